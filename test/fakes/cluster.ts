import { parseAuthorities } from '../../src/certificates/certificates.facts.ts';
import type { Fleet, Kinds } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterUp, ClusterView, NodeView, PodView } from '../../src/cluster/fleet/view.ts';
import type { MemberView } from '../../src/etcd/view.facts.ts';
import type { Inventory, LinuxHost, RepositorySource } from '../../src/inventory/inventory.ts';
import { KUBEADM_RULES } from '../../src/upgrade/addons.facts.ts';
import { inventory, linuxHost } from './inventory.ts';

const source: RepositorySource = {
  url: 'https://packages.example/deb/',
  key: { url: 'https://packages.example/key' },
  fingerprint: 'DE15B14486CD377B9E876E1A234654DA9A296436',
};
const ofMinor = { ...source, urlOfMinor: source.url };

/** A resolved host of a small cluster; a test names only its subject. */
export const hostOf = ({ name, ...host }: Partial<LinuxHost> & { readonly name: string }): LinuxHost =>
  linuxHost(name, { address: '203.0.113.21', internalAddress: '10.0.0.21', ...host });

const controlPlane = (index: number): LinuxHost =>
  hostOf({
    name: `cp${String(index)}`,
    role: 'control-plane',
    address: `203.0.113.1${String(index)}`,
    internalAddress: `10.0.0.1${String(index)}`,
  });

export const cp1 = controlPlane(1);
export const cp2 = controlPlane(2);
export const cp3 = controlPlane(3);
export const w1 = hostOf({ name: 'w1' });
export const w2 = hostOf({ name: 'w2', address: '203.0.113.22', internalAddress: '10.0.0.22' });

/** A resolved inventory with one control plane and one worker. */
export const inventoryOf = (over: Partial<Inventory> = {}): Inventory => ({
  ...inventory({
    name: 'demo',
    file: '/tmp/demo.yaml',
    endpoint: 'k8s.example:6443',
    kubernetes: { repository: { ...ofMinor, rpm: ofMinor } },
    runtime: { repository: { ...source, rpm: source } },
    hosts: [cp1, w1],
  }),
  ...over,
});

/** The facts of a fresh host as far as clusters are concerned. Reading any other fact is a mistake of the test. */
export const factsOf = (facts: Partial<LinuxFacts> = {}): LinuxFacts =>
  ({
    kubernetesTraces: new Set(),
    kubeletRuntime: '',
    otherContainers: new Map(),
    formerRuntimes: new Map(),
    formerSettings: new Map(),
    kubeletOverrides: [],
    caFingerprint: 'absent',
    cniConfigurations: [],
    otherCas: [],
    authorities: parseAuthorities(''),
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
    kubeletFlags: [],
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
    kubeletFlags: [],
    ...facts,
  });

/** What a joined host of `demo` shows that has containerd as a package of this version. */
export const joinedWithContainerd = (role: LinuxHost['role'], version: string): Partial<LinuxFacts> => ({
  kubernetesTraces: new Set([
    '/etc/kubernetes/kubelet.conf',
    '/etc/kubernetes/pki/ca.crt',
    ...(role === 'control-plane' ? ['/etc/kubernetes/admin.conf', '/etc/kubernetes/pki/ca.key'] : []),
  ]),
  caFingerprint: CA,
  kubeconfigCluster: { name: 'demo', server: 'https://k8s.example:6443' },
  packages: new Map([...installed, ['containerd.io', { state: 'installed', version, held: true }]]),
  kubeletHealthy: true,
});

/** A node, at the address of the host of that name. */
export const nodeOf = (node: Partial<NodeView> & { readonly name: string }): NodeView => ({
  role: 'worker',
  ready: true,
  reason: '',
  conditions: [],
  unschedulable: false,
  cordonedAt: '',
  kubeletVersion: '1.36.3',
  os: 'Debian GNU/Linux 12 (bookworm)',
  runtime: 'containerd://2.2.9',
  internalAddress: [cp1, cp2, cp3, w2].find(({ name }) => name === node.name)?.internalAddress ?? '10.0.0.21',
  machineId: '',
  bootId: '',
  labels: {},
  annotations: {},
  taints: [],
  ...node,
});

/** The nodes of hosts that have joined. */
export const nodesOf = (...hosts: readonly LinuxHost[]): readonly NodeView[] =>
  hosts.map(({ name, role, internalAddress }) =>
    nodeOf({ name, role: role === 'control-plane' ? role : 'worker', internalAddress }),
  );

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

/** A healthy member of etcd on a control plane; the first one leads. */
export const memberOf = (index: number, member: Partial<MemberView> = {}): MemberView => ({
  id: String(index),
  name: `cp${String(index)}`,
  peerUrl: `https://10.0.0.1${String(index)}:2380`,
  learner: false,
  healthy: true,
  leader: index === 1,
  dbSize: 1,
  ...member,
});

/** The space of an etcd member, in MiB. */
export const spaceOf = (
  size: number,
  inUse: number,
  quota = 2048,
): Required<Pick<MemberView, 'dbSize' | 'dbSizeInUse' | 'dbSizeQuota'>> => ({
  dbSize: size * 1024 ** 2,
  dbSizeInUse: inUse * 1024 ** 2,
  dbSizeQuota: quota * 1024 ** 2,
});

/** A live cluster of `cp1` alone, unless told otherwise. */
export const clusterOf = (cluster: Partial<ClusterUp> = {}): ClusterUp => ({
  state: 'up',
  via: 'cp1',
  nowMs: 1_800_000_000_000,
  caFingerprint: CA,
  otherCas: [],
  rootCas: '',
  caReaders: [],
  tokenUse: { pods: [], secrets: [] },
  handlerPods: [],
  kubeadmRules: new Set(KUBEADM_RULES.map(({ object }) => object)),
  name: 'demo',
  version: '1.36.3',
  configuration: {
    clusterName: 'demo',
    controlPlaneEndpoint: 'k8s.example:6443',
    networking: { podSubnet: '10.244.0.0/16', serviceSubnet: '10.96.0.0/12', dnsDomain: 'cluster.local' },
  },
  corefile: '',
  kubeletConfiguration: {},
  nodes: nodesOf(cp1),
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
  kubelets: new Map(),
  ...cluster,
});

/** The host's own address and the kubelet's certificate of its name, unless a test says what they are. */
function withIdentity(host: LinuxHost, facts: LinuxFacts): LinuxFacts {
  const eth0 = { name: 'eth0', addresses: [host.internalAddress], mac: '', mtu: 1500 };
  const others = facts.interfaces.filter(({ name }) => name !== eth0.name);
  const own = { interfaces: [eth0, ...others], kubeletClient: { node: host.name } };
  const said = {
    interfaces: facts.interfaces.some(({ addresses }) => addresses.length > 0),
    kubeletClient: 'kubeletClient' in facts,
  };
  return Object.create(
    facts,
    Object.fromEntries(
      Object.entries(own).flatMap(([name, value]) =>
        said[name as keyof typeof own] ? [] : [[name, { value, enumerable: true }] as const],
      ),
    ),
  ) as LinuxFacts;
}

/** A host with its facts. */
export type Seen = readonly [LinuxHost, LinuxFacts];

/** A host that has joined `demo`. */
export const joinedHost = (host: LinuxHost, facts?: Partial<LinuxFacts>): Seen => [
  host,
  host.role === 'control-plane' ? joinedControlPlane(facts) : joinedWorker(facts),
];

/** A host that has not joined a cluster. */
export const freshHost = (host: LinuxHost, facts?: Partial<LinuxFacts>): Seen => [host, factsOf(facts)];

/** Hosts with their facts, and the state of their cluster; hosts of the inventory that are missing could not be reached. */
export const fleetIn = (cluster: ClusterView, ...seen: readonly Seen[]): Fleet => ({
  hosts: seen.map(([host, facts]) => ({ os: 'linux' as const, host, facts: withIdentity(host, facts) })),
  unreachable: [],
  cluster,
});

/** Hosts with their facts, without a cluster. */
export const fleetOf = (...seen: readonly Seen[]): Fleet => fleetIn({ state: 'absent' }, ...seen);

/** The target of a step about a Linux host. */
export const targetOf = (inventory: Inventory, host: LinuxHost, fleet: Fleet) => ({
  inventory,
  host,
  facts: fleet.hosts.find((observed) => observed.host.name === host.name)!.facts as Kinds['linux']['facts'],
  fleet,
});
