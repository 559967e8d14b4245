import { NO_HOOKS } from '../../src/inventory/host-settings.ts';
import type { Inventory, LinuxHost, WindowsHost } from '../../src/inventory/inventory.ts';
import { flannelNetwork } from './network.ts';

/** A Linux host; a worker at 10.0.0.21 unless told. */
export const linuxHost = (name: string, overrides: Partial<Omit<LinuxHost, 'name' | 'os'>> = {}): LinuxHost => ({
  name,
  os: 'linux',
  sysctls: {},
  installFrom: 'distribution',
  packages: [],
  trustedCas: [],
  address: '10.0.0.21',
  internalAddress: overrides.address ?? '10.0.0.21',
  role: 'worker',
  ssh: { user: 'root', port: 22, knownHostsFiles: ['/home/user/.ssh/known_hosts'] },
  kubelet: { config: {}, extraArgs: [] },
  labels: {},
  taints: undefined,
  groups: [],
  setHostname: false,
  ...overrides,
});

/** A Windows worker at 10.0.0.31 unless told. */
export const windowsHost = (name: string, overrides: Partial<Omit<WindowsHost, 'name' | 'os'>> = {}): WindowsHost => ({
  name,
  os: 'windows',
  address: '10.0.0.31',
  internalAddress: overrides.address ?? '10.0.0.31',
  role: 'worker',
  ssh: { user: 'Administrator', port: 22, knownHostsFiles: ['/home/user/.ssh/known_hosts'] },
  kubelet: { config: {}, extraArgs: [] },
  labels: {},
  taints: undefined,
  groups: [],
  setHostname: false,
  windows: {
    containerd: { version: '2.3.5' },
    crictl: { version: '1.36.0' },
    pauseImage: 'registry.k8s.io/pause:3.10.2',
    serviceManager: 'native',
    hyperv: 'off',
    allowReboot: true,
    allowUnsupportedOs: false,
    reserved: { system: '1Gi', kube: '1Gi' },
    downloads: {
      via: 'host',
      kubernetes: 'https://dl.k8s.io/v1.36.3/bin/windows/amd64',
      containerd: 'https://github.com/containerd/containerd/releases/download/v2.3.5',
      crictl: 'https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0',
      nssm: '',
      network: '',
      sha256: {},
    },
  },
  ...overrides,
});

/** One control plane and two workers. */
export const hosts: readonly LinuxHost[] = [
  linuxHost('cp1', { address: '10.0.0.11', role: 'control-plane' }),
  linuxHost('w1', { address: '10.0.0.21' }),
  linuxHost('w2', { address: '10.0.0.22' }),
];

const defaults: Inventory = {
  name: 'prod',
  file: '/home/user/inventory.yaml',
  kubernetes: {
    version: '1.36.3',
    minor: '1.36',
    repository: {
      url: 'https://pkgs.k8s.io/core:/stable:/v1.36/deb/',
      urlOfMinor: 'https://pkgs.k8s.io/core:/stable:/v{minor}/deb/',
      key: { url: 'https://pkgs.k8s.io/core:/stable:/v1.36/deb/Release.key' },
      fingerprint: 'DE15B14486CD377B9E876E1A234654DA9A296436',
      rpm: {
        url: 'https://pkgs.k8s.io/core:/stable:/v1.36/rpm/',
        urlOfMinor: 'https://pkgs.k8s.io/core:/stable:/v{minor}/rpm/',
        key: { url: 'https://pkgs.k8s.io/core:/stable:/v1.36/rpm/repodata/repomd.xml.key' },
        fingerprint: 'DE15B14486CD377B9E876E1A234654DA9A296436',
      },
    },
    via: [],
    imageRepository: 'registry.k8s.io',
    dnsDomain: 'cluster.local',
  },
  endpoint: 'k8s.example.com:6443',
  endpointInHosts: false,
  network: flannelNetwork(),
  dns: { blocks: {} },
  rollout: { maxUnavailable: { percent: 10 }, drainTimeoutMs: 300_000, pauseMs: 0 },
  runtime: {
    name: 'containerd',
    version: '2.3.7',
    versionFrom: 'inventory',
    cgroupDriver: 'systemd',
    repository: {
      url: 'https://download.docker.com/linux/{distribution}',
      suite: '{codename}',
      component: 'stable',
      key: { url: 'https://download.docker.com/linux/{distribution}/gpg' },
      fingerprint: '9DC858229FC7DD38854AE2D88D81803C0EBFCD88',
      rpm: {
        url: 'https://download.docker.com/linux/{distribution}',
        suite: '{codename}',
        component: 'stable',
        key: { url: 'https://download.docker.com/linux/{distribution}/gpg' },
        fingerprint: '060A61C51B558A7F742B77AAC52FEB6B621E9F35',
      },
    },
    package: 'containerd.io',
    config: {},
    selinux: false,
    handlers: [],
    registries: [],
  },
  etcd: { topology: 'stacked' },
  certificates: { distribution: 'upload', renewBeforeMs: 30 * 86_400_000 },
  backup: { recipients: [] },
  loadBalancer: { kind: 'none' },
  proxy: undefined,
  files: [],
  hooks: NO_HOOKS,
  manifests: [],
  kubeadm: { init: {}, cluster: {}, join: {}, kubeProxy: {}, reset: {}, patches: {} },
  hosts,
  firewall: 'report',
  ignoreChecks: [],
  downloads: {
    kubernetes: {
      url: 'https://dl.k8s.io/release/v{version}/bin/linux/{arch}/{name}',
      checksums: '{url}.sha256',
      signatures: 'auto',
    },
    containerd: { url: 'https://example.com/containerd-{version}-linux-{arch}.tar.gz', checksums: '{url}.sha256sum' },
    runc: { url: 'https://example.com/runc-{version}/runc.{arch}', checksums: '{folder}/runc.sha256sum' },
    cniPlugins: { url: 'https://example.com/cni-plugins-linux-{arch}-v{version}.tgz', checksums: '{url}.sha256' },
    crictl: { url: 'https://example.com/crictl-v{version}-linux-{arch}.tar.gz', checksums: '{url}.sha256' },
    criDockerd: { url: 'https://example.com/cri-dockerd-{version}.{arch}.tgz' },
    sha256: {},
  },
};

const SECTIONS = ['kubernetes', 'network', 'runtime', 'kubeadm'] as const;

type Overrides = Partial<Omit<Inventory, (typeof SECTIONS)[number]>> & {
  readonly [K in (typeof SECTIONS)[number]]?: Partial<Inventory[K]>;
};

const made = (overrides: Overrides): Inventory => ({
  ...defaults,
  ...overrides,
  ...(Object.fromEntries(
    SECTIONS.map((section) => [section, { ...defaults[section], ...overrides[section] }]),
  ) as unknown as Pick<Inventory, (typeof SECTIONS)[number]>),
});

/** True of text, numbers and plain objects and arrays of them; false of a `Secret`, a map, a function. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  const kind: unknown = Object.getPrototypeOf(value);
  return (kind === Object.prototype || kind === Array.prototype) && Object.values(value).every(isPlain);
}

/** All that the overrides say; undefined if they hold more than plain data. */
const nameOf = (overrides: Overrides): string | undefined =>
  isPlain(overrides)
    ? JSON.stringify(overrides, (_, value: unknown) => (value === undefined ? '\0undefined' : value))
    : undefined;

const known = new Map<string, Inventory>();

/**
 * An inventory as it is after loading: Kubernetes 1.36.3 on `hosts`. Sections are merged with the defaults, one level
 * deep. The same overrides give the same object: what is remembered for an inventory is found by the next test.
 */
export function inventory(overrides: Overrides = {}): Inventory {
  const name = nameOf(overrides);
  if (name === undefined) return made(overrides);
  const found = known.get(name) ?? made(overrides);
  known.set(name, found);
  return found;
}
