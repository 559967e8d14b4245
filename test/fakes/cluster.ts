import type { ClusterUp, ClusterView, NodeView, PodView } from '../../src/facts/cluster.ts';
import type { Fleet, Kinds } from '../../src/facts/fleet.ts';
import type { LinuxFacts } from '../../src/facts/linux.ts';
import type { Inventory, LinuxHost, PackageRepository } from '../../src/model/inventory.ts';
import { flannelNetwork } from './network.ts';

const repository: PackageRepository = {
  url: 'https://packages.example/deb/',
  key: { url: 'https://packages.example/key' },
  fingerprint: 'DE15B14486CD377B9E876E1A234654DA9A296436',
};

/** A resolved host of a small cluster; a test names only its subject. */
export const hostOf = (host: Partial<LinuxHost> & { readonly name: string }): LinuxHost => ({
  os: 'linux',
  role: 'worker',
  address: '203.0.113.21',
  internalAddress: '10.0.0.21',
  ssh: { user: 'root', port: 22, knownHostsFiles: [] },
  kubelet: { config: {}, extraArgs: [] },
  labels: {},
  taints: undefined,
  setHostname: false,
  ...host,
});

export const cp1 = hostOf({
  name: 'cp1',
  role: 'control-plane',
  address: '203.0.113.11',
  internalAddress: '10.0.0.11',
});
export const w1 = hostOf({ name: 'w1' });

/** A resolved inventory with one control plane and one worker. */
export const inventoryOf = (over: Partial<Inventory> = {}): Inventory => ({
  name: 'demo',
  file: '/tmp/demo.yaml',
  kubernetes: {
    version: '1.36.3',
    minor: '1.36',
    repository,
    imageRepository: 'registry.k8s.io',
    dnsDomain: 'cluster.local',
  },
  endpoint: 'k8s.example:6443',
  endpointInHosts: false,
  network: flannelNetwork(),
  runtime: {
    name: 'containerd',
    version: '2.2.9',
    cgroupDriver: 'systemd',
    repository,
    package: 'containerd.io',
    config: {},
    registries: [],
  },
  etcd: { topology: 'stacked' },
  certificates: { distribution: 'upload' },
  loadBalancer: { kind: 'none' },
  proxy: undefined,
  files: [],
  manifests: [],
  kubeadm: { init: {}, cluster: {}, join: {}, kubeProxy: {}, reset: {}, patches: {} },
  hosts: [cp1, w1],
  firewall: 'report',
  ignoreChecks: [],
  ...over,
});

/** The facts of a fresh host as far as clusters are concerned. Reading any other fact is a mistake of the test. */
export const factsOf = (facts: Partial<LinuxFacts> = {}): LinuxFacts =>
  ({
    kubernetesTraces: new Set(),
    caFingerprint: 'absent',
    kubeconfigCluster: 'absent',
    marker: 'absent',
    runningJob: 'none',
    packages: new Map(),
    services: new Map(),
    files: new Map(),
    interfaces: [],
    listeners: [],
    machineId: 'absent',
    firewall: [],
    kubeChains: [],
    leftovers: [],
    kubeletHealthy: false,
    serviceNetwork: 'absent',
    cgroupDriverInUse: 'none',
    etcdPki: 'not asked',
    etcdToken: 'absent',
    etcdServers: 'absent',
    etcdFolder: '/var/lib/etcd',
    servedBefore: { olderThanMarker: [], kubeletFinalized: false },
    ...facts,
  }) as LinuxFacts;

export const CA = `sha256:${'a'.repeat(64)}`;
export const OTHER_CA = `sha256:${'b'.repeat(64)}`;

const installed = new Map([['kubeadm', { state: 'installed' as const, version: '1.36.3-1.1', held: true }]]);

/** What a joined control plane of `demo` shows. */
export const joinedControlPlane = (facts: Partial<LinuxFacts> = {}): LinuxFacts =>
  factsOf({
    kubernetesTraces: new Set([
      '/etc/kubernetes/admin.conf',
      '/etc/kubernetes/kubelet.conf',
      '/etc/kubernetes/pki/ca.crt',
      '/etc/kubernetes/pki/ca.key',
    ]),
    caFingerprint: CA,
    kubeconfigCluster: { name: 'demo', server: 'https://k8s.example:6443' },
    packages: installed,
    kubeletHealthy: true,
    ...facts,
  });

/** What a joined worker of `demo` shows. */
export const joinedWorker = (facts: Partial<LinuxFacts> = {}): LinuxFacts =>
  factsOf({
    kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf', '/etc/kubernetes/pki/ca.crt']),
    caFingerprint: CA,
    kubeconfigCluster: { name: 'default-cluster', server: 'https://k8s.example:6443' },
    packages: installed,
    kubeletHealthy: true,
    ...facts,
  });

export const nodeOf = (node: Partial<NodeView> & { readonly name: string }): NodeView => ({
  role: 'worker',
  ready: true,
  reason: '',
  conditions: [],
  unschedulable: false,
  kubeletVersion: '1.36.3',
  os: 'Debian GNU/Linux 12 (bookworm)',
  runtime: 'containerd://2.2.9',
  internalAddress: '10.0.0.21',
  machineId: '',
  labels: {},
  annotations: {},
  taints: [],
  ...node,
});

export const podOf = (pod: Partial<PodView> & { readonly name: string }): PodView => ({
  namespace: 'kube-system',
  node: 'cp1',
  labels: {},
  ready: true,
  trouble: '',
  lastRestartMs: 0,
  images: [],
  startedMs: 0,
  ...pod,
});

/** A live cluster of `cp1` alone, unless told otherwise. */
export const clusterOf = (cluster: Partial<ClusterUp> = {}): ClusterUp => ({
  state: 'up',
  via: 'cp1',
  nowMs: 1_800_000_000_000,
  caFingerprint: CA,
  name: 'demo',
  version: '1.36.3',
  configuration: {
    clusterName: 'demo',
    controlPlaneEndpoint: 'k8s.example:6443',
    networking: { podSubnet: '10.244.0.0/16', serviceSubnet: '10.96.0.0/12', dnsDomain: 'cluster.local' },
  },
  kubeletConfiguration: {},
  nodes: [nodeOf({ name: 'cp1', role: 'control-plane', internalAddress: '10.0.0.11' })],
  pods: [
    podOf({ name: 'kube-proxy-x', labels: { 'k8s-app': 'kube-proxy' } }),
    podOf({ name: 'coredns-x', labels: { 'k8s-app': 'kube-dns' } }),
  ],
  endpoint: 'ok',
  members: [],
  alarms: [],
  apiServers: new Map([['cp1', 'ok']]),
  objects: new Map(),
  owned: [],
  leftoverTokens: [],
  kubeletRequests: [],
  ...cluster,
});

/** The host's own address, unless a test says what its interfaces are. */
const withAddress = (host: LinuxHost, facts: LinuxFacts): LinuxFacts =>
  facts.interfaces.length > 0
    ? facts
    : (Object.create(facts, {
        interfaces: {
          value: [{ name: 'eth0', addresses: [host.internalAddress], mac: '', mtu: 1500 }],
          enumerable: true,
        },
      }) as LinuxFacts);

/** A fleet of hosts with their facts; hosts of the inventory that are not named could not be reached. */
export function fleetOf(
  seen: readonly (readonly [LinuxHost, LinuxFacts])[],
  cluster: ClusterView = { state: 'absent' },
): Fleet {
  const hosts = seen.map(([host, facts]) => ({ os: 'linux' as const, host, facts: withAddress(host, facts) }));
  return { hosts, unreachable: [], cluster };
}

/** The target of a step about a Linux host. */
export const targetOf = (inventory: Inventory, host: LinuxHost, fleet: Fleet) => ({
  inventory,
  host,
  facts: fleet.hosts.find((observed) => observed.host.name === host.name)!.facts as Kinds['linux']['facts'],
  fleet,
});
