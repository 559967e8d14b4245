import type { Surveys } from '../../src/cluster/fleet/fleet.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import type { Inventory, LinuxHost, Signatures, WindowsHost } from '../../src/inventory/inventory.ts';
import type { HandlerKind, RuntimeHandler } from '../../src/inventory/runtime-handlers.ts';
import type { PodNetwork } from '../../src/network/pod-network.survey.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { certificateOf } from '../fakes/certificate.ts';
import { CA, clusterOf, memberOf, nodeOf, podOf, spaceOf } from '../fakes/cluster.ts';
import type { FactOverrides, RawAnswers } from '../fakes/facts.ts';
import { filesWith } from '../fakes/files.ts';
import { hosts, inventory, windowsHost } from '../fakes/inventory.ts';
import { ciliumNetwork, flannelNetwork, mixedFlannel, withNetwork } from '../fakes/network.ts';
import type { MachineChange } from '../fakes/windows.ts';
import { addService, type Machine } from '../windows/host/machine.ts';

/** The pod of cp1's API server. */
const apiServerOf = (version: string) =>
  podOf({
    name: 'kube-apiserver-cp1',
    labels: { component: 'kube-apiserver' },
    images: [`registry.k8s.io/kube-apiserver:v${version}`],
  });

/** os-release of a version of openSUSE Leap. */
const leap = (version: string): string =>
  `ID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="${version}"\nPRETTY_NAME="openSUSE Leap ${version}"\n`;

/** os-release of RHEL and its relatives. */
const enterprise = (id: string, version: string): string =>
  `ID="${id}"\nID_LIKE="fedora"\nVERSION_ID="${version}"\nPRETTY_NAME="${id} ${version}"\n`;

const withBinaries = (host: Inventory['hosts'][number]): Inventory['hosts'][number] =>
  host.os === 'linux' ? { ...host, installFrom: 'binaries' } : host;

/** The worker w1 gets binaries, whose signatures are verified so. */
const withSignatures = (signatures: Signatures): Inventory => {
  const { downloads } = inventory();
  return inventory({
    downloads: { ...downloads, kubernetes: { ...downloads.kubernetes, signatures } },
    hosts: hosts.map((host) => (host.name === 'w1' ? withBinaries(host) : host)),
  });
};

const FLATCAR = 'ID=flatcar\nID_LIKE=coreos\nVERSION_ID=4459.0.0\nPRETTY_NAME="Flatcar 4459.0.0"\n';

const withLocalBalancer = inventory({
  endpoint: '127.0.0.1:7443',
  loadBalancer: { kind: 'local', port: 7443, healthPort: 8404 },
});

/** Docker Engine, with the checksum of cri-dockerd for one architecture. */
const withDocker = inventory({
  runtime: { name: 'docker', package: 'docker-ce', version: '29.9.0' },
  downloads: {
    ...inventory().downloads,
    sha256: { 'https://example.com/cri-dockerd-0.4.10.amd64.tgz': '0'.repeat(64) },
  },
});

/** The worker w1 has a handler: with the program at the path, or with the package of its project. */
const withHandler = (kind: HandlerKind, path?: string): Inventory => {
  const handler = { name: kind, kind, path: path ?? `/usr/bin/${kind}`, from: path === undefined ? 'package' : 'host' };
  const runtime = { ...inventory().runtime, handlers: [{ ...handler, overhead: {} } as RuntimeHandler] };
  return inventory({ hosts: hosts.map((host) => (host.name === 'w1' ? { ...host, runtime } : host)) });
};

/** The worker w1 is to have containers that SELinux confines. */
const selinuxOnW1 = inventory({
  hosts: hosts.map((host) =>
    host.name === 'w1' ? { ...host, runtime: { ...inventory().runtime, selinux: true } } : host,
  ),
});

const runtimeClassOf = (labels: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'crun', labels },
});

const CRI_UNIT = '/etc/systemd/system/cri-docker.service';

/** A unit of cri-dockerd on the host. */
const unitThere = (ownFiles: readonly string[] = []) => ({
  files: new Map([[CRI_UNIT, { kind: 'file', sha256: '', mode: 0o644, owner: 'root:root', mtimeMs: 0 } as const]]),
  ownFiles,
});

/** A fleet in which something is as a check wants it, or is not. What is not said is as on fresh hosts. */
export interface Situation {
  readonly inventory?: Inventory;
  /** What probes print, by host. */
  readonly printed?: Readonly<Record<string, RawAnswers>>;
  readonly facts?: Readonly<Record<string, FactOverrides>>;
  readonly unreachable?: readonly string[];
  readonly cluster?: ClusterView;
  readonly surveys?: Surveys;
  /** What is different on win1, which is there with it. */
  readonly windows?: MachineChange;
}

/** One thing that a check must find, and where it must not. */
export interface Case {
  readonly finds: RegExp;
  readonly bad: Situation;
  /** Default: fresh hosts. */
  readonly good?: Situation;
}

const w1 = (printed: RawAnswers): Situation => ({ printed: { w1: printed } });

/** What the host's resolver has for its names. */
const NAMES = 'own known 10.0.0.21\nlocalhost known 127.0.0.1\nk8s.example.com known 10.0.0.11\n';

/** kube-proxy uses nftables, in this version of Kubernetes. */
const nftables = (version: string): Inventory => {
  const { kubernetes } = inventory();
  return inventory({ kubernetes: { ...kubernetes, version }, kubeadm: { kubeProxy: { mode: 'nftables' } } });
};

/** w1 gives these answers, and its kubelet is to have this configuration. */
const withKubelet = (config: object, printed: RawAnswers = {}): Situation => ({
  inventory: inventory({
    hosts: hosts.map((host) =>
      host.name === 'w1' ? { ...host, kubelet: { config: { ...config }, extraArgs: [] } } : host,
    ),
  }),
  ...w1(printed),
});

/** The kubelet of w1 is to read systemd-resolved's file. */
const withResolvConf = (resolver: string): Situation =>
  withKubelet({ resolvConf: '/run/systemd/resolve/resolv.conf' }, { resolver });

/** Pods of w1 are to have some swap. */
const limitedSwap = (config: object, printed?: RawAnswers): Situation =>
  withKubelet({ memorySwap: { swapBehavior: 'LimitedSwap' }, ...config }, printed);

const cp1 = (printed: RawAnswers): Situation => ({ printed: { cp1: printed } });

/** The inventory asks for chrony on w1, where these services run. */
/** What systemctl shows of units that run: one name a line. */
function running(units: string): string {
  const names = units.trim().split('\n');
  return `${names.map((name) => `Unit=${name}\n`).join('')}${names.map(() => 'ActiveState=active\n').join('\n')}`;
}

const wantsChrony = (timeServices: string, more: RawAnswers = {}): Situation => ({
  inventory: inventory({
    hosts: hosts.map((host) => (host.name === 'w1' ? { ...host, timeSync: { kind: 'chrony', servers: [] } } : host)),
  }),
  printed: { w1: { timeServices: running(timeServices), ...more } },
});

/** Joined hosts in a cluster that owns these objects; a route of w1 leads into a further network of Services. */
const moreSubnets = (owned: readonly string[]): Situation => ({
  inventory: inventory({ network: { ...flannelNetwork(), moreServiceSubnets: ['10.112.0.0/16'] } }),
  cluster: clusterOf({ owned }),
  facts: { w1: { kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf', '/etc/kubernetes/pki/ca.crt']) } },
  printed: { w1: { routes: 'default via 10.0.0.1 dev eth0\n10.112.7.0/24 dev eth1\n---\n' } },
});

/** w1 has these units; the value is whether they are enabled. */
const withUnits = (units: Readonly<Record<string, string>>): Situation => ({
  facts: {
    w1: {
      services: new Map(
        Object.entries(units).map(([name, enabled]) => [
          name,
          { load: 'loaded', active: 'inactive', enabled, startedMs: 0, needsDaemonReload: false },
        ]),
      ),
    },
  },
});

/** All hosts have Ubuntu 22.04, and their clocks show noon of this day. */
function onDay(day: string): Situation {
  const seen: FactOverrides = {
    nowMs: Date.parse(`${day}T12:00:00Z`),
    osRelease: { id: 'ubuntu', idLike: [], versionId: '22.04', codename: 'jammy', prettyName: 'Ubuntu 22.04' },
  };
  return { facts: { cp1: seen, w1: seen, w2: seen } };
}

const FORWARDING =
  'net.bridge.bridge-nf-call-iptables 1\nnet.bridge.bridge-nf-call-ip6tables 1\nnet.ipv4.ip_forward 1\n';

/** A fleet whose w1 has a kernel setting of the inventory. `sysctls`: what its probe prints. */
const mapped = (sysctls: string): Situation => ({
  inventory: inventory({
    hosts: inventory().hosts.map((host) =>
      host.name === 'w1' ? { ...(host as LinuxHost), sysctls: { 'vm.max_map_count': '262144' } } : host,
    ),
  }),
  printed: { ...all({ sysctls: FORWARDING }), w1: { sysctls } },
});

const MAPPED = mapped(`${FORWARDING}vm.max_map_count 262144\n`);

/** w1 runs this service. */
const withService = (name: string): Situation => ({
  facts: {
    w1: {
      services: new Map([
        [name, { load: 'loaded', active: 'active', enabled: 'enabled', startedMs: 1, needsDaemonReload: false }],
      ]),
    },
  },
});

/** w1 runs tuned, which writes these settings. */
const withTuned = (tunedSettings: string, base: Situation = {}): Situation => ({
  ...base,
  ...withService('tuned'),
  printed: { ...base.printed, w1: { ...base.printed?.['w1'], tunedSettings } },
});

/** A cluster whose only control plane has these keys. */
const joinedWithKeys = (...names: readonly string[]): Situation => ({
  cluster: clusterOf({ name: 'prod', nodes: [nodeOf({ name: 'cp1', role: 'control-plane' })] }),
  facts: {
    cp1: {
      kubernetesTraces: new Set(['/etc/kubernetes/admin.conf', '/etc/kubernetes/kubelet.conf']),
      caFingerprint: CA,
      kubeconfigCluster: { name: 'prod', server: 'https://k8s.example.com:6443' },
      files: filesWith(Object.fromEntries(names.map((name) => [`/etc/kubernetes/pki/${name}.key`, name]))),
    },
  },
});

const keyEndsAt = (day: string): Situation => ({
  facts: {
    w1: {
      nowMs: Date.parse('2026-12-01'),
      keyrings: new Map([
        [
          '/etc/apt/keyrings/kbuild-kubernetes.asc',
          { fingerprints: ['A'.repeat(40)], end: Date.parse(day), writtenMs: 0 },
        ],
      ]),
    },
  },
});

const [cpHost, workerHost] = inventory().hosts as [LinuxHost, LinuxHost];

const noSurveys: Surveys = {
  ports: { tried: 0, blocked: [], narrow: [], unverified: [], failed: [] },
  disks: [],
  overlays: [],
  downloads: [],
};

const podsOf = (found: Partial<PodNetwork>): Situation => ({
  surveys: { ...noSurveys, pods: { found: { tried: 12, blocked: [], failed: [], untried: [], ...found } } },
});

const paths8 = '/var/lib\n/var/lib\n/var/lib\n/var/log\n/etc\n/usr\n/opt\n/tmp\n';
const disks = (free: string, mounts: string): string => `${paths8}${`${free}\n`.repeat(8)}${mounts}`;
const root = '27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro\n';
const roomy = '10485760 4096 13107200 3145728 3276800';

const NFT = `nftables
chain inet filter input
table inet filter {
\tchain input {
\t\ttype filter hook input priority filter; policy drop;
\t\tct state established,related accept
\t\tiif "lo" accept
\t\ttcp dport { 22, 10250-10259 } accept
\t}
}
`;

const UFW = `ufw
Status: active

To                         Action      From
--                         ------      ----
22/tcp                     ALLOW       Anywhere                  
10250/tcp                  ALLOW       10.0.0.0/24               
22/tcp (v6)                ALLOW       Anywhere (v6)             

`;

const mixed = inventory();

/** The fleet with a Windows worker, which pods reach by VXLAN. */
const withWindows = (over: Partial<WindowsHost['windows']> = {}): Inventory => {
  const host = windowsHost('win1');
  return {
    ...mixed,
    hosts: [...mixed.hosts, { ...host, windows: { ...host.windows, ...over } }],
    network: mixedFlannel(),
  };
};

/** Hosts with an MTU of 1300. */
const narrowHosts = (network: Inventory['network']): Situation => ({
  inventory: { ...inventory(), network },
  facts: Object.fromEntries(
    ['11', '21', '22'].map((end, i) => [
      ['cp1', 'w1', 'w2'][i]!,
      { interfaces: [{ name: 'eth0', addresses: [`10.0.0.${end}`], mac: `52:54:00:00:00:${end}`, mtu: 1300 }] },
    ]),
  ),
});

const win1 = (windows: MachineChange, over: Partial<WindowsHost['windows']> = {}): Situation => ({
  inventory: withWindows(over),
  windows,
});

/** What no machine has when it comes from its installation: the feature, and hardware that no operator needs to know of. */
const prepared = (change: (machine: Machine) => void = () => undefined): Situation =>
  win1((machine) => {
    machine.features.set('Containers', 'Installed');
    machine.extra.set('model', 'PowerEdge R760');
    machine.extra.set('manufacturer', 'Dell Inc.');
    machine.extra.set('excludedProcesses', ['C:\\Program Files\\containerd\\containerd.exe']);
    change(machine);
  });

/** A program of kubeadm's after an edit by hand. */
const selecting = (kind: string, name: string, nodeSelector: object): ReadonlyMap<string, JsonObject> =>
  new Map([[`apps/v1/${kind}/kube-system/${name}`, { spec: { template: { spec: { nodeSelector } } } }]]);

const windowsCase = (finds: RegExp, change: MachineChange, over: Partial<WindowsHost['windows']> = {}): Case => ({
  finds,
  bad: win1(change, over),
  good: prepared(),
});

/** cp1 holds the virtual address, and so does another host. */
const twoHolders = (other?: string): Situation => {
  const holds = (own: string, mac: string) => ({
    interfaces: [{ name: 'eth0', addresses: [own, '10.0.0.100'], mac, mtu: 1500 }],
  });
  return {
    inventory: inventory({
      endpoint: '10.0.0.100:8443',
      loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 100 },
    }),
    facts: {
      cp1: holds('10.0.0.11', '52:54:00:00:00:01'),
      ...(other === undefined ? {} : { [other]: holds('10.0.0.21', '52:54:00:00:00:02') }),
    },
  };
};

/** What each check must find. The test of the house fails for a check that is missing here. */
export const cases: Readonly<Record<string, readonly Case[]>> = {
  'windows-build': [
    windowsCase(/Server 2019 .*\(build 17763\)/, (machine) => {
      machine.build = '17763';
      machine.caption = 'Microsoft Windows Server 2019 Standard';
    }),
    windowsCase(
      /Kubernetes supports Server 2022/,
      (machine) => {
        machine.build = '25398';
      },
      { allowUnsupportedOs: true },
    ),
    windowsCase(
      /build 17763\), on which the network cannot run in pods/,
      (machine) => {
        machine.build = '17763';
      },
      { allowUnsupportedOs: true },
    ),
    windowsCase(/is no server/, (machine) => {
      machine.caption = 'Microsoft Windows 11 Pro';
    }),
  ],
  'windows-hardware': [
    windowsCase(/has 2 CPUs/, (machine) => {
      machine.cpus = 2;
    }),
    windowsCase(/has 2048 MiB of memory, and 3500 are needed/, (machine) => {
      machine.memoryMiB = 2048;
    }),
    windowsCase(/has 6000 MiB of memory, and 7500 are advised/, (machine) => {
      machine.memoryMiB = 6000;
    }),
    windowsCase(/no page file/, (machine) => {
      machine.pageFileMiB = 0;
    }),
  ],
  'windows-disk': [
    windowsCase(/has 10 GiB free on C:, and 15 are needed/, (machine) => {
      machine.freeDiskBytes = 10 * 1024 ** 3;
    }),
    windowsCase(/ReFS on C:/, (machine) => {
      machine.extra.set('fileSystem', 'ReFS');
    }),
  ],
  'windows-features': [
    windowsCase(/Containers is not installed/, () => undefined),
    windowsCase(/waiting for a restart/, (machine) => {
      machine.features.set('Containers', 'InstallPending');
    }),
    windowsCase(/it is no server/, (machine) => {
      machine.caption = 'Microsoft Windows 11 Pro';
    }),
  ],
  'windows-pending-reboot': [
    windowsCase(/waits for a restart \(component servicing\)/, (machine) => {
      machine.pendingReboot = true;
    }),
  ],
  'windows-hostname': [
    windowsCase(/calls itself WIN-8QK2J/, (machine) => {
      machine.extra.set('hostname', 'WIN-8QK2J');
    }),
  ],
  'windows-docker': [
    windowsCase(/has the service docker/, (machine) => {
      addService(machine, { name: 'docker', path: 'dockerd.exe' });
    }),
  ],
  'windows-ssh': [
    windowsCase(/sshd does not start by itself \(Manual\)/, (machine) => {
      machine.services.get('sshd')!.startMode = 'Manual';
    }),
    windowsCase(/counts as Public/, (machine) => {
      machine.extra.set('networkCategory', 'Public');
      machine.firewall.set('openssh-server-in-tcp', {
        name: 'OpenSSH-Server-In-TCP',
        protocol: 'TCP',
        ports: ['22'],
        profile: 'Private',
      });
    }),
  ],
  'windows-address': [
    windowsCase(/has no address 10\.0\.0\.31 \(found 10\.0\.0\.99\)/, (machine) => {
      (machine.addresses as string[]).splice(0, 1, '10.0.0.99');
    }),
    windowsCase(/from DHCP/, (machine) => {
      machine.extra.set('origin', 'Dhcp');
    }),
  ],
  'windows-mac-spoofing': [windowsCase(/is a virtual machine \(QEMU/, () => undefined)],
  'windows-ports': [
    windowsCase(/UDP port 4789 is taken by nsx-proxy/, (machine) => {
      machine.extra.set('listeners', [{ protocol: 'udp', port: 4789, program: 'nsx-proxy' }]);
    }),
  ],
  'windows-reach': [
    windowsCase(/does not reach dl\.k8s\.io:443: no answer/, (_, world) => {
      world['unreachable'] = ['dl.k8s.io:443'];
    }),
    windowsCase(/does not reach registry-1\.docker\.io:443: no answer/, (_, world) => {
      world['unreachable'] = ['registry-1.docker.io:443'];
    }),
  ],
  'windows-defender': [
    {
      finds: /Defender looks into every file/,
      bad: win1(() => undefined),
      // A policy or another scanner: it looks into nothing.
      good: win1((machine) => {
        machine.features.set('Containers', 'Installed');
        machine.extra.set('defender', 'off');
      }),
    },
    windowsCase(/Defender looks into every file/, (machine) => {
      machine.extra.set('excludedProcesses', ['sqlservr.exe']);
    }),
  ],
  'windows-selectors': [
    {
      finds: /daemonset kube-proxy in kube-system does not select Linux/,
      bad: { inventory: withWindows(), cluster: clusterOf({ objects: selecting('DaemonSet', 'kube-proxy', {}) }) },
      good: {
        inventory: withWindows(),
        cluster: clusterOf({ objects: selecting('DaemonSet', 'kube-proxy', { 'kubernetes.io/os': 'linux' }) }),
      },
    },
    {
      finds: /deployment coredns in kube-system does not select Linux/,
      bad: {
        inventory: withWindows(),
        cluster: clusterOf({ objects: selecting('Deployment', 'coredns', { disk: 'ssd' }) }),
      },
      good: { cluster: clusterOf({ objects: selecting('Deployment', 'coredns', { disk: 'ssd' }) }) },
    },
  ],
  'windows-secrets': [
    windowsCase(/BitLocker is off/, (machine) => {
      machine.extra.set('bitLocker', '0');
    }),
    windowsCase(/every user may read C:\\var\\lib\\kubelet/, (machine) => {
      machine.folders.add('c:\\var\\lib\\kubelet');
      machine.extra.set('sddl', 'O:BAD:(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;0x1200a9;;;BU)');
    }),
    windowsCase(/^every user may write to C:\\k, whose programs SYSTEM runs$/, (machine) => {
      machine.folders.add('c:\\k');
      // What Windows gives a folder that an administrator makes in C:\.
      machine.extra.set(
        'sddl C:\\k',
        'O:BAG:SYD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;0x1200a9;;;BU)(A;CIID;LC;;;BU)(A;CIID;DC;;;BU)',
      );
    }),
  ],
  reachable: [{ finds: /no answer/, bad: { unreachable: ['w1'] } }],
  'os-supported': [
    { finds: /Arch/, bad: w1({ osRelease: 'ID=arch\nPRETTY_NAME="Arch Linux"\n' }) },
    {
      finds: /^openSUSE Leap 15\.6 is not supported: it has had no security updates since 2026-04-30$/,
      bad: w1({ osRelease: leap('15.6') }),
      good: w1({ osRelease: leap('16.0') }),
    },
    {
      finds: /^SUSE Linux Micro 6\.1 is not supported: its packages go into a new snapshot/,
      bad: w1({ osRelease: 'ID="sl-micro"\nVERSION_ID="6.1"\nPRETTY_NAME="SUSE Linux Micro 6.1"\n' }),
    },
  ],
  'system-repositories': [
    {
      finds: /^no repository of openSUSE Leap 16\.0 is enabled/,
      bad: w1({ osRelease: leap('16.0'), systemRepositories: 'suse\n' }),
      good: w1({ osRelease: leap('16.0'), systemRepositories: 'suse\nrepo-oss\n' }),
    },
  ],
  'runtime-handlers': [
    {
      finds: /^handler crun: there is no program \/opt\/crun/,
      bad: { inventory: withHandler('crun', '/opt/crun'), ...w1({ handlerPrograms: '' }) },
      good: { inventory: withHandler('crun', '/opt/crun'), ...w1({ handlerPrograms: '/opt/crun\n' }) },
    },
    {
      finds: /^handler runsc: there is no program \/opt\/containerd-shim-runsc-v1/,
      bad: { inventory: withHandler('runsc', '/opt/runsc'), ...w1({ handlerPrograms: '/opt/runsc\n' }) },
    },
    {
      finds: /^handler runsc: there is no package of gVisor for Rocky Linux/,
      bad: {
        inventory: withHandler('runsc'),
        ...w1({ handlerPrograms: '', osRelease: enterprise('rocky', '9.6') }),
      },
      good: { inventory: withHandler('runsc'), ...w1({ handlerPrograms: '' }) },
    },
    {
      finds: /^handler kata: there is no \/dev\/kvm/,
      bad: { inventory: withHandler('kata', '/opt/kata'), ...w1({ handlerPrograms: '/opt/kata\n' }) },
      good: { inventory: withHandler('kata', '/opt/kata'), ...w1({ handlerPrograms: '/opt/kata\n/dev/kvm\n' }) },
    },
    {
      finds: /^RuntimeClass crun is in the cluster, and kbuild did not make it/,
      bad: {
        inventory: withHandler('crun', '/opt/crun'),
        ...w1({ handlerPrograms: '/opt/crun\n' }),
        cluster: clusterOf({ objects: new Map([['node.k8s.io/v1/RuntimeClass//crun', runtimeClassOf({})]]) }),
      },
      good: {
        inventory: withHandler('crun', '/opt/crun'),
        ...w1({ handlerPrograms: '/opt/crun\n' }),
        cluster: clusterOf({
          objects: new Map([
            ['node.k8s.io/v1/RuntimeClass//crun', runtimeClassOf({ 'app.kubernetes.io/managed-by': 'kbuild' })],
          ]),
        }),
      },
    },
    {
      finds: /^RuntimeClass crun stands in own\.yaml too/,
      bad: {
        inventory: {
          ...withHandler('crun', '/opt/crun'),
          manifests: [{ source: 'own.yaml', objects: [runtimeClassOf({})] }],
        },
        ...w1({ handlerPrograms: '/opt/crun\n' }),
      },
    },
  ],
  'runtime-source': [
    {
      finds: /^Docker Engine comes as packages only, and Flatcar has none/,
      bad: { inventory: withDocker, printed: { w1: { osRelease: FLATCAR } } },
    },
    {
      finds: /^Docker Engine comes as packages only, and the host gets binaries/,
      bad: { inventory: { ...withDocker, hosts: withDocker.hosts.map(withBinaries) } },
      good: { inventory: withDocker },
    },
    {
      finds: /^Docker Engine is not published for openSUSE Leap/,
      bad: { inventory: withDocker, printed: { w1: { osRelease: leap('16.0') } } },
    },
    {
      finds: /^the inventory names no SHA-256 of https:\/\/example\.com\/cri-dockerd-0\.4\.10\.arm64\.tgz/,
      bad: { inventory: withDocker, printed: { w1: { arch: 'aarch64\n' } } },
      good: { inventory: withDocker },
    },
  ],
  'runtime-version': [
    {
      finds: /^containerd supports Kubernetes 1\.36 from 2\.2\.0, 2\.3\.0 on, not in 1\.7\.33/,
      bad: w1({ osRelease: leap('16.0'), packages: 'suse\npackage containerd 0:1.7.33-1.1\n--programs\n' }),
      good: w1({ osRelease: leap('16.0'), packages: 'suse\npackage containerd 0:2.2.9-1.1\n--programs\n' }),
    },
  ],
  architecture: [
    { finds: /armv7l/, bad: w1({ arch: 'armv7l\n' }) },
    {
      finds: /^is a aarch64-32bit machine/,
      bad: w1({ arch: 'aarch64-32bit\n' }),
      good: w1({ arch: 'aarch64\n' }),
    },
  ],
  'init-system': [{ finds: /openrc-init/, bad: w1({ initSystem: 'openrc-init\n' }) }],
  'kernel-version': [
    { finds: /needs 4\.19/, bad: w1({ kernel: '3.10.0-1160.el7.x86_64\n' }) },
    {
      finds: /nftables needs 5\.13/,
      bad: {
        inventory: inventory({ kubeadm: { kubeProxy: { mode: 'nftables' } } }),
        printed: { w1: { kernel: '5.10.0-35-amd64\n' } },
      },
      good: { inventory: inventory({ kubeadm: { kubeProxy: { mode: 'nftables' } } }) },
    },
    { finds: /ipvs, which is deprecated/, bad: { inventory: inventory({ kubeadm: { kubeProxy: { mode: 'ipvs' } } }) } },
  ],
  'kube-proxy-mode': [
    {
      finds: /^Rocky Linux deprecates the kernel modules of iptables, which kube-proxy would use/,
      bad: w1({ osRelease: enterprise('rocky', '10.1') }),
      good: w1({ osRelease: enterprise('rocky', '9.6') }),
    },
    {
      finds: /^Oracle Linux deprecates/,
      bad: {
        inventory: inventory({ kubeadm: { kubeProxy: { mode: 'iptables' } } }),
        ...w1({ osRelease: enterprise('ol', '10.0') }),
      },
      good: {
        inventory: inventory({ kubeadm: { kubeProxy: { mode: 'nftables' } } }),
        ...w1({ osRelease: enterprise('ol', '10.0') }),
      },
    },
    {
      finds: /^Oracle Linux deprecates/,
      bad: w1({ osRelease: enterprise('ol', '10.0') }),
      good: {
        inventory: inventory({ kubeadm: { cluster: { proxy: { disabled: true } } } }),
        ...w1({ osRelease: enterprise('ol', '10.0') }),
      },
    },
  ],
  'kernel-modules': [
    {
      finds: /neither built into/,
      bad: w1({ modules: 'overlay working\nbr_netfilter missing\nnf_conntrack working\n' }),
      good: { printed: all({ modules: 'overlay working\nbr_netfilter working\nnf_conntrack working\n' }) },
    },
  ],
  vxlan: [{ finds: /no VXLAN/, bad: w1({ vxlan: 'missing\n' }) }],
  sysctls: [
    {
      finds: /99-zzz\.conf sets net\.ipv4\.ip_forward=0/,
      bad: w1({ sysctlSettings: '/etc/sysctl.d/99-zzz.conf:net.ipv4.ip_forward = 0\n' }),
      good: { printed: all({ sysctls: FORWARDING }) },
    },
    {
      finds: /99-zzz\.conf sets vm\.max_map_count=65530 at boot/,
      bad: {
        ...mapped(`${FORWARDING}vm.max_map_count 262144 \n`),
        printed: {
          w1: {
            sysctls: `${FORWARDING}vm.max_map_count 262144 \n`,
            sysctlSettings: '/etc/sysctl.d/99-zzz.conf:vm/max_map_count=65530\n',
          },
        },
      },
      good: mapped(`${FORWARDING}vm.max_map_count 262144 \n`),
    },
    {
      finds: /the kernel has no setting vm\.max_map_count/,
      bad: mapped(`${FORWARDING}vm.max_map_count absent\n`),
      good: mapped(`${FORWARDING}vm.max_map_count 262144 \n`),
    },
    {
      finds: /vm\.max_map_count, which the inventory sets, has no value that can be read/,
      bad: mapped(`${FORWARDING}vm.max_map_count unreadable\n`),
      good: mapped(`${FORWARDING}vm.max_map_count 262144 \n`),
    },
  ],
  'cgroup-version': [{ finds: /cgroup v1/, bad: w1({ cgroupVersion: 'tmpfs\n' }) }],
  'cgroup-controllers': [{ finds: /memory/, bad: w1({ cgroupControllers: 'cpuset cpu io hugetlb pids rdma misc\n' }) }],
  'cgroup-driver': [
    {
      finds: /^systemd and, by cgroupfs, the kubelet would both manage the cgroups/,
      bad: { inventory: inventory({ runtime: { ...inventory().runtime, cgroupDriver: 'cgroupfs' } }) },
    },
    {
      finds: /cgroup driver cgroupfs/,
      bad: w1({
        runtimeConfig:
          "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\nSystemdCgroup = false\n",
      }),
    },
    {
      finds: /pods run by the cgroup driver cgroupfs, though containerd and the kubelet are configured for systemd/,
      bad: w1({
        kubernetesTraces: '/etc/kubernetes/kubelet.conf\n',
        cgroupDriverInUse: `/kubepods/burstable/pod1/${'a'.repeat(64)}\n`,
        kubeletConfig: 'cgroupDriver: systemd\n',
      }),
    },
    {
      finds:
        /pods run by the cgroup driver cgroupfs; up drains the node, configures containerd and the kubelet for systemd/,
      bad: w1({
        kubernetesTraces: '/etc/kubernetes/kubelet.conf\n',
        cgroupDriverInUse: `/kubepods/burstable/pod1/${'a'.repeat(64)}\n`,
        kubeletConfig: 'cgroupDriver: cgroupfs\n',
      }),
    },
  ],
  cpus: [{ finds: /1 CPU/, bad: cp1({ cpus: '1\n' }) }],
  memory: [
    { finds: /1464 MiB/, bad: cp1({ memoryMiB: 'MemTotal:        1500000 kB\n' }) },
    { finds: /advised/, bad: w1({ memoryMiB: 'MemTotal:         500000 kB\n' }) },
  ],
  swap: [
    {
      finds: /\/dev\/vda5/,
      bad: w1({ swaps: '/dev/vda5                               partition\t998396\t\t0\t\t-2\n' }),
    },
    { finds: /zram/, bad: w1({ zram: 'on\n' }) },
    {
      finds: /dev-vdb1\.swap/,
      bad: w1({
        swapUnits: 'Unit=dev-vdb1.swap\nSourcePath=\nFragmentPath=/run/systemd/generator.late/dev-vdb1.swap\n',
      }),
    },
    { finds: /LimitedSwap gives pods no swap: `up` turns swap off/, bad: limitedSwap({}) },
    { finds: /LimitedSwap gives pods no swap: the host has no swap/, bad: limitedSwap({ failSwapOn: false }) },
    {
      finds: /LimitedSwap gives pods no swap: the host has cgroup v1/,
      bad: limitedSwap({ failSwapOn: false }, { cgroupVersion: 'tmpfs\n' }),
    },
  ],
  'disk-space': [
    { finds: /MiB free/, bad: w1({ storage: disks('5000 4096 13107200 3145728 3276800', root) }) },
    {
      finds: /4687 MiB free \(9 %\), below the kubelet's eviction threshold nodefs\.available 10%/,
      bad: w1({ storage: disks('1200000 4096 13107200 3145728 3276800', root) }),
    },
    {
      finds: /40960 MiB free \(80 %\), below the kubelet's eviction threshold imagefs\.available 45Gi/,
      bad: {
        ...w1({ storage: disks(roomy, root) }),
        inventory: inventory({
          hosts: mixed.hosts.map((host) => ({
            ...host,
            kubelet: { config: { evictionHard: { 'imagefs.available': '45Gi' } }, extraArgs: [] },
          })),
        }),
      },
      good: {
        ...w1({ storage: disks('1200000 4096 13107200 3145728 3276800', root) }),
        inventory: inventory({
          hosts: mixed.hosts.map((host) => ({
            ...host,
            kubelet: { config: { evictionHard: { 'nodefs.available': '1%' } }, extraArgs: [] },
          })),
        }),
      },
    },
    { finds: /inodes free/, bad: w1({ storage: disks('10485760 4096 13107200 100 3276800', root) }) },
  ],
  'writable-paths': [
    {
      finds: /\/etc is mounted read-only/,
      bad: w1({ storage: disks(roomy, `${root}30 27 254:2 / /etc ro,relatime shared:2 - ext4 /dev/vdb rw\n`) }),
    },
  ],
  'overlay-storage': [
    {
      finds: /nfs4/,
      bad: w1({
        storage: disks(roomy, `${root}30 27 0:50 / /var/lib rw,relatime shared:2 - nfs4 nas:/srv rw,vers=4.2\n`),
      }),
    },
  ],
  signatures: [
    {
      finds: /^has no cosign, and the inventory requires signatures/,
      bad: { inventory: withSignatures('required') },
      good: { inventory: withSignatures('required'), ...w1({ cosign: 'there\n' }) },
    },
    {
      finds: /^has no cosign/,
      bad: { inventory: withSignatures('required') },
      good: { inventory: withSignatures('auto') },
    },
  ],
  'required-tools': [{ finds: /no losetup/, bad: w1({ missingTools: 'losetup\n' }) }],
  selinux: [
    { finds: /enforcing/, bad: w1({ securityModules: 'selinux 1\n' }) },
    {
      finds: /^has no SELinux, or it is switched off/,
      bad: {
        inventory: selinuxOnW1,
        ...w1({ securityModules: '', osRelease: enterprise('rocky', '9.6') }),
      },
      good: {
        inventory: selinuxOnW1,
        ...w1({ securityModules: 'selinux 1\n', osRelease: enterprise('rocky', '9.6') }),
      },
    },
    {
      finds: /^SELinux is permissive/,
      bad: {
        inventory: selinuxOnW1,
        ...w1({ securityModules: 'selinux 0\n', osRelease: enterprise('rocky', '9.6') }),
      },
    },
    {
      finds: /has no package container-selinux/,
      bad: { inventory: selinuxOnW1, ...w1({ securityModules: 'selinux 1\n' }) },
    },
  ],
  apparmor: [{ finds: /apparmor_parser/, bad: w1({ securityModules: 'apparmor toolless\n' }) }],
  firewall: [
    { finds: /ufw does not let in .*8472\/udp/, bad: w1({ firewall: UFW }) },
    { finds: /nftables \(inet filter input\) does not let in 8472\/udp/, bad: w1({ firewall: NFT }) },
    {
      finds: /does not let through packets of pods/,
      bad: w1({ firewall: NFT.replaceAll('input', 'forward') }),
    },
    {
      finds: /ufw does not let in/,
      bad: { inventory: inventory({ firewall: 'open' }), printed: { w1: { firewall: UFW } } },
      good: { inventory: inventory({ firewall: 'open' }) },
    },
  ],
  ports: [
    {
      finds: /6443.*apache2 \(process 811\)/,
      bad: cp1({
        listeners: 'tcp   LISTEN 0      511                *:6443            *:*    users:(("apache2",pid=811,fd=4))\n',
      }),
    },
  ],
  'slow-login': [
    { finds: /login shell took 2\.1 s/, bad: w1({ login: '1002.15 100005\n' }) },
    { finds: /SSH server took 4\.2 s/, bad: { facts: { w1: { login: { sshdMs: 4200, shellMs: 20 } } } } },
  ],
  'release-lock': [
    {
      finds: /held at release 9\.4 \(\/etc\/dnf\/vars\/releasever\)/,
      bad: w1({ osRelease: enterprise('rhel', '9.6'), releaseLocks: 'rhel\n9.4 /etc/dnf/vars/releasever\n' }),
      good: w1({ osRelease: enterprise('rhel', '9.6'), releaseLocks: 'rhel\n9 /etc/dnf/vars/releasever\n' }),
    },
    {
      finds: /held at release 10\.0 \(subscription-manager release --set\)/,
      bad: w1({
        osRelease: enterprise('rhel', '10.1'),
        releaseLocks: 'rhel\n10.0 subscription-manager release --set\n',
      }),
    },
    {
      finds: /held at release 2023\.9\.20251117/,
      bad: w1({
        osRelease: enterprise('amzn', '2023'),
        releaseLocks: 'rhel\n2023.9.20251117 /etc/dnf/vars/releasever\n',
      }),
      good: w1({ osRelease: enterprise('amzn', '2023'), releaseLocks: 'rhel\nlatest /etc/dnf/vars/releasever\n' }),
    },
  ],
  tuned: [
    {
      finds: /tuned sets net\.ipv4\.ip_forward=0 after kbuild's file, by \/etc\/sysctl\.conf/,
      bad: withTuned('/etc/sysctl.conf net.ipv4.ip_forward 0\n'),
      good: withTuned('/etc/sysctl.conf net.ipv4.ip_forward 1\n/etc/sysctl.conf vm.swappiness 10\n'),
    },
    {
      finds: /net\.ipv4\.ip_forward=0/,
      bad: withTuned('/etc/sysctl.conf net.ipv4.ip_forward 0\n'),
      // The service does not run, and does not start at a boot.
      good: w1({ tunedSettings: '/etc/sysctl.conf net.ipv4.ip_forward 0\n' }),
    },
    {
      finds: /tuned sets vm\.max_map_count=>1048576 after kbuild's file, by \/usr\/lib\/tuned\/database\/tuned\.conf/,
      bad: withTuned('/usr/lib/tuned/database/tuned.conf vm.max_map_count >1048576\n', MAPPED),
      good: withTuned('/usr/lib/tuned/database/tuned.conf vm.max_map_count >65530\n', MAPPED),
    },
  ],
  'time-sync': [
    { finds: /no time service/, bad: w1({ timeServices: '\n' }) },
    { finds: /chrony does not run/, bad: wantsChrony('systemd-timesyncd\n'), good: wantsChrony('chrony\nchronyd\n') },
    {
      finds: /ntpsec keeps the clock/,
      bad: wantsChrony('ntpsec\n'),
      good: wantsChrony('chrony\nvmtoolsd\nqemu-guest-agent\n'),
    },
    {
      finds: /Flatcar 4459 has no packages/,
      bad: wantsChrony('chronyd\n', { osRelease: 'ID=flatcar\nVERSION_ID=4459\nPRETTY_NAME="Flatcar 4459"\n' }),
      good: wantsChrony('chronyd\n', { osRelease: leap('16.0') }),
    },
  ],
  nameserver: [{ finds: /names no server/, bad: w1({ resolver: '# empty\n---\n' }) }],
  'resolver-loop': [
    { finds: /127\.0\.0\.1/, bad: w1({ resolver: 'nameserver 127.0.0.1\n---\n' }) },
    {
      finds: /127\.0\.0\.53/,
      bad: withResolvConf('nameserver 10.0.0.1\n---\n---\nthere\nnameserver 127.0.0.53\n'),
      good: withResolvConf('nameserver 127.0.0.1\n---\n---\nthere\nnameserver 10.0.0.1\n'),
    },
  ],
  'resolv-conf': [
    {
      finds:
        /has no \/run\/systemd\/resolve\/resolv\.conf, which kubelet\.config\.resolvConf names: no pod would start/,
      bad: withResolvConf('nameserver 10.0.0.1\n---\n---\nmissing\n'),
      good: withResolvConf('nameserver 10.0.0.1\n---\n---\nthere\nnameserver 10.0.0.1\n'),
    },
    { finds: /has no nameserver/, bad: withResolvConf('nameserver 10.0.0.1\n---\n---\nthere\n# empty\n') },
  ],
  'executable-paths': [
    {
      finds: /^\/opt is mounted noexec, and the plugins of the pod network/,
      bad: w1({ storage: disks(roomy, `${root}30 27 254:2 / /opt rw,noexec shared:2 - ext4 /dev/vdb rw\n`) }),
      good: w1({ storage: disks(roomy, `${root}30 27 254:2 / /tmp rw,noexec shared:2 - ext4 /dev/vdb rw\n`) }),
    },
    {
      finds: /^\/var is mounted noexec, and what pods run/,
      bad: w1({ storage: disks(roomy, `${root}30 27 254:2 / /var rw,noexec shared:2 - ext4 /dev/vdb rw\n`) }),
    },
  ],
  fapolicyd: [{ finds: /lets no plugin/, bad: withService('fapolicyd') }],
  'kube-proxy-nft': [
    {
      finds: /^kube-proxy 1\.36\.2 dies at a named set/,
      bad: { inventory: nftables('1.36.2'), ...w1({ osRelease: enterprise('rocky', '10.1') }) },
      good: { inventory: nftables('1.36.3'), ...w1({ osRelease: enterprise('rocky', '10.1') }) },
    },
  ],
  'local-names': [
    {
      finds: /localhost is unknown/,
      bad: w1({ lookups: 'own known 10.0.0.21\nlocalhost known\nk8s.example.com known 10.0.0.11\n' }),
    },
    {
      finds: /localhost as ::1 alone/,
      bad: w1({ lookups: `${NAMES}/etc/hosts known ::1\n` }),
      good: w1({ lookups: `${NAMES}/etc/hosts known ::1 127.0.0.1\n` }),
    },
    {
      finds: /its own name/,
      bad: w1({ lookups: 'own known\nlocalhost known 127.0.0.1\nk8s.example.com known 10.0.0.11\n' }),
    },
  ],
  'proxy-variables': [
    {
      finds: /http_proxy=http:\/\/…@proxy:3128/,
      bad: w1({ proxyVariables: 'http_proxy="http://me:secret@proxy:3128"\n' }),
    },
    {
      finds: /no_proxy leaves out 10\.0\.0\.21, 10\.0\.0\.22$/,
      bad: {
        inventory: inventory({ proxy: { http: 'http://proxy:3128', noProxy: [] } }),
        printed: {
          w1: { proxyVariables: 'http_proxy="http://proxy:3128"\nno_proxy=localhost,.example.com,10.0.0.11\n' },
        },
      },
      good: {
        inventory: inventory({ proxy: { http: 'http://proxy:3128', noProxy: [] } }),
        printed: {
          w1: { proxyVariables: 'http_proxy="http://proxy:3128"\nno_proxy=localhost,.example.com,10.0.0.0/24\n' },
        },
      },
    },
  ],
  'package-manager': [{ finds: /tzdata/, bad: w1({ brokenPackages: 'debian\nhalf-configured ok tzdata\n' }) }],
  'package-locks': [
    {
      finds: /unattended-upgr \(process 900\)/,
      bad: w1({ packageLocks: 'debian\n/var/lib/dpkg/lock-frontend 900 unattended-upgr\n' }),
    },
  ],
  'signing-keys': [
    {
      finds: /the signing key A{40} in \/etc\/apt\/keyrings\/kbuild-kubernetes\.asc runs out on 2026-12-29/,
      bad: keyEndsAt('2026-12-29'),
      good: keyEndsAt('2027-01-29'),
    },
    { finds: /has run out on 2024-11-02/, bad: keyEndsAt('2024-11-02') },
  ],
  'pending-reboot': [
    { finds: /linux-image-6\.1/, bad: w1({ pendingReboot: 'debian\npending\nlinux-image-6.1.0-45-amd64\n' }) },
  ],
  'cloud-init': [
    { finds: /still runs/, bad: w1({ cloudInit: 'running\n' }) },
    { finds: /errors/, bad: w1({ cloudInit: 'failed\n' }) },
  ],
  'existing-runtime': [
    {
      finds: /2 containers of Docker/,
      bad: w1({
        containers:
          '/run/containerd/io.containerd.runtime.v2.task/moby/a\n/run/containerd/io.containerd.runtime.v2.task/moby/b\n',
      }),
    },
    { finds: /crio\.sock/, bad: w1({ criSockets: '/run/crio/crio.sock\n' }) },
    {
      finds: /1 containers of Docker run on the containerd that up would configure/,
      // It changes to containerd; where it has that already, the operator has decided.
      bad: w1({
        kubernetesTraces: '/etc/kubernetes/kubelet.conf\n',
        kubeletRuntime: 'unix:///run/crio/crio.sock\n',
        containers: '/run/containerd/io.containerd.runtime.v2.task/moby/a\n',
      }),
      good: w1({
        kubernetesTraces: '/etc/kubernetes/kubelet.conf\n',
        kubeletRuntime: 'unix:///run/containerd/containerd.sock\n',
        containers: '/run/containerd/io.containerd.runtime.v2.task/moby/a\n',
      }),
    },
    {
      finds: /has joined with \/run\/frakti\.sock, and the inventory asks for containerd/,
      bad: w1({
        kubernetesTraces: '/etc/kubernetes/kubelet.conf\n',
        kubeletRuntime: 'unix:///var/run/frakti.sock\n',
      }),
    },
    {
      finds: /^has \/etc\/systemd\/system\/cri-docker\.service, which kbuild did not write/,
      bad: { inventory: withDocker, facts: { w1: unitThere() } },
      good: { inventory: withDocker, facts: { w1: unitThere([CRI_UNIT]) } },
    },
    {
      finds: /1 containers of other programs run on the Docker Engine/,
      bad: { inventory: withDocker, printed: { w1: { containers: 'kubernetes\ndocker\n' } } },
      // Docker's own containerd has a CRI socket.
      good: { inventory: withDocker, printed: { w1: { criSockets: '/run/containerd/containerd.sock\n' } } },
    },
  ],
  'cloud-routes': [
    {
      finds: /^nm-cloud-setup and nm-cloud-setup\.timer write routes/,
      bad: withUnits({ 'nm-cloud-setup': 'enabled', 'nm-cloud-setup.timer': 'enabled' }),
    },
    { finds: /^nm-cloud-setup writes routes/, bad: withUnits({ 'nm-cloud-setup': 'enabled' }) },
    {
      finds: /^nm-cloud-setup\.timer writes routes/,
      bad: withUnits({ 'nm-cloud-setup.timer': 'enabled' }),
      good: withUnits({ 'nm-cloud-setup': 'disabled', 'nm-cloud-setup.timer': 'masked' }),
    },
  ],
  'cni-configuration': [{ finds: /05-cilium\.conflist/, bad: w1({ cniConfigurations: '05-cilium.conflist\n' }) }],
  'plugin-kernel': [
    {
      finds: /and Cilium cannot run there: needs 5\.10$/m,
      bad: { inventory: withNetwork(inventory(), ciliumNetwork()), ...w1({ kernel: '5.4.0-1-amd64\n' }) },
      good: { inventory: withNetwork(inventory(), ciliumNetwork()) },
    },
    {
      finds: /Cilium cannot run there: no \/sys\/kernel\/btf\/vmlinux$/m,
      bad: { inventory: withNetwork(inventory(), ciliumNetwork()), ...w1({ kernelFeatures: 'bpffs\n' }) },
      good: w1({ kernelFeatures: '' }),
    },
  ],
  leftovers: [{ finds: /KUBE-SERVICES/, bad: w1({ kubeChains: ':KUBE-SERVICES - [0:0]\n' }) }],
  'end-of-life': [
    {
      finds: /^security updates for Ubuntu 22\.04 end on 2027-04-30, in 60 days$/m,
      bad: onDay('2027-03-01'),
      good: onDay('2027-01-29'),
    },
    { finds: /^Ubuntu 22\.04 has had no security updates since 2027-04-30$/m, bad: onDay('2027-05-01') },
    {
      finds: /^containerd 2\.2 has had no security updates since 2026-11-06$/m,
      bad: { inventory: inventory({ runtime: { ...inventory().runtime, version: '2.2.9' } }), ...onDay('2026-11-07') },
      good: { inventory: inventory({ runtime: { ...inventory().runtime, version: '2.2.9' } }), ...onDay('2026-08-07') },
    },
  ],
  'certificate-expiry': [
    {
      finds: /certificates run out: apiserver expires in 9 days \(2026-12-01\), admin\.conf expires in 27 days/,
      bad: {
        facts: {
          cp1: {
            nowMs: Date.parse('2026-11-21T12:00:00Z'),
            certificates: [
              certificateOf('admin.conf', '2026-12-19T00:00:00.000Z'),
              certificateOf('apiserver', '2026-12-01T00:00:00.000Z'),
              certificateOf('ca', '2036-12-01T00:00:00.000Z'),
            ],
          },
        },
      },
      good: {
        facts: {
          cp1: {
            nowMs: Date.parse('2026-11-21T12:00:00Z'),
            certificates: [certificateOf('apiserver', '2026-12-23T00:00:00.000Z')],
          },
        },
      },
    },
  ],
  'shared-keys': [
    {
      finds: /sa\.key is gone, and no other control plane has it/,
      bad: joinedWithKeys('ca', 'front-proxy-ca', 'etcd/ca'),
      good: joinedWithKeys('ca', 'front-proxy-ca', 'etcd/ca', 'sa'),
    },
  ],
  'node-health': [
    {
      finds: /has the condition DiskPressure \(KubeletHasDiskPressure: kubelet has disk pressure\)/,
      bad: {
        cluster: clusterOf({
          nodes: [
            nodeOf({
              name: 'w1',
              conditions: [
                { type: 'DiskPressure', status: 'True', reason: 'KubeletHasDiskPressure: kubelet has disk pressure' },
              ],
            }),
          ],
        }),
      },
      good: { cluster: clusterOf({ nodes: [nodeOf({ name: 'w1' })] }) },
    },
    {
      finds: /is cordoned[\s\S]*has the taint dedicated=x:NoSchedule/,
      bad: {
        cluster: clusterOf({
          nodes: [
            nodeOf({
              name: 'w1',
              unschedulable: true,
              taints: [
                { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
                { key: 'dedicated', value: 'x', effect: 'NoSchedule' },
              ],
            }),
          ],
        }),
      },
    },
  ],
  'half-finished': [
    {
      finds: /kbuild's init is half finished/,
      bad: cp1({
        kubernetesTraces: '/etc/kubernetes/pki/ca.crt\n',
        marker: '{"cluster":"prod","action":"init","job":"kubeadm-init-1"}\n',
      }),
    },
  ],
  'address-on-host': [
    {
      finds: /10\.0\.0\.21 is temporary/,
      bad: {
        facts: {
          w1: {
            interfaces: [
              {
                ...{ name: 'eth0', addresses: ['10.0.0.21'], mac: '02:fc:00:00:00:09', mtu: 1500 },
                unsteady: { '10.0.0.21': 'temporary' },
              },
            ],
          },
        },
      },
    },
    {
      finds: /10\.0\.0\.21 is not an address/,
      bad: {
        facts: { w1: { interfaces: [{ name: 'eth0', addresses: ['10.9.9.9'], mac: '02:fc:00:00:00:09', mtu: 1500 }] } },
      },
    },
  ],
  'accept-ra': [
    {
      finds: /default route of IPv6 \(eth0\) comes from a router/,
      bad: w1({
        routes:
          'default via 10.0.0.1 dev eth0\n::/0 via fe80::1 dev eth0 proto ra metric 100 expires 1700sec accept_ra 1\n---\n10.0.0.11 dev eth0 src 10.0.0.21 uid 0\n',
      }),
    },
  ],
  'default-route': [
    {
      finds: /no default route/,
      bad: w1({
        routes:
          '10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.21\n---\n10.0.0.11 dev eth0 src 10.0.0.21 uid 0\n',
      }),
    },
  ],
  'routes-between-hosts': [
    {
      finds: /no route to w2/,
      bad: w1({ routes: 'default via 10.0.0.1 dev eth0\n---\n10.0.0.11 dev eth0 src 10.0.0.21 uid 0\n' }),
    },
    {
      finds: /sends from 192\.168\.1\.5/,
      bad: w1({
        routes:
          'default via 10.0.0.1 dev eth0\n---\n10.0.0.11 dev eth1 src 192.168.1.5 uid 0\n10.0.0.22 dev eth0 src 10.0.0.21 uid 0\n',
      }),
    },
  ],
  'route-overlap': [
    {
      // A live cluster that does not have the network yet; then one that has it.
      finds: /10\.112\.7\.0\/24 \(eth1\).*moreServiceSubnets 10\.112\.0\.0\/16/,
      bad: moreSubnets([]),
      good: moreSubnets(['networking.k8s.io/v1/ServiceCIDR//kbuild-10-112-0-0-16']),
    },
    {
      finds: /10\.244\.1\.0\/24 \(weave\).*podSubnet/,
      bad: w1({ routes: 'default via 10.0.0.1 dev eth0\n10.244.1.0/24 dev weave\n---\n' }),
      good: w1({ routes: 'default via 10.0.0.1 dev eth0\n10.244.1.0/24 dev cilium_host\n---\n' }),
    },
    {
      finds: /10\.244\.7\.0\/24.*podSubnet/,
      bad: w1({
        routes:
          'default via 10.0.0.1 dev eth0\n10.244.7.0/24 via 10.0.0.9 dev eth0\n---\n10.0.0.11 dev eth0 src 10.0.0.21\n10.0.0.22 dev eth0 src 10.0.0.21\n',
      }),
    },
  ],
  'unique-host': [{ finds: /machine-id/, bad: { facts: { cp1: { machineId: 'same' }, w1: { machineId: 'same' } } } }],
  'product-uuid': [
    { finds: /product UUID same/, bad: { facts: { cp1: { productUuid: 'same' }, w1: { productUuid: 'same' } } } },
  ],
  'unique-hostname': [
    { finds: /calls itself debian/, bad: { facts: { cp1: { hostname: 'debian' }, w1: { hostname: 'debian' } } } },
  ],
  'unique-mac': [
    {
      finds: /MAC address/,
      bad: {
        facts: {
          cp1: { interfaces: [{ name: 'eth0', addresses: ['10.0.0.11'], mac: '52:54:00:00:00:01', mtu: 1500 }] },
          w1: { interfaces: [{ name: 'ens3', addresses: ['10.0.0.21'], mac: '52:54:00:00:00:01', mtu: 1500 }] },
        },
      },
      good: {
        facts: {
          cp1: { interfaces: [{ name: 'vxlan100', addresses: [], mac: '52:54:00:00:00:01', mtu: 1450 }] },
          w1: { interfaces: [{ name: 'vxlan100', addresses: [], mac: '52:54:00:00:00:01', mtu: 1450 }] },
        },
      },
    },
  ],
  'balancer-packages': [
    {
      finds: /^gets HAProxy \(loadBalancer\.kind: local\), and Flatcar has no packages/,
      bad: { inventory: withLocalBalancer, ...w1({ osRelease: FLATCAR }) },
      good: w1({ osRelease: FLATCAR }),
    },
  ],
  'virtual-address': [
    {
      finds: /holds the virtual address 10\.0\.0\.100, and so does cp1: it is no load balancer of the inventory/,
      bad: twoHolders('w1'),
      good: twoHolders(),
    },
  ],
  'unique-address': [
    { finds: /10\.0\.0\.100 in common/, bad: { ...twoHolders('w1'), inventory: inventory() }, good: twoHolders('w1') },
    {
      finds: /10\.0\.0\.77 in common/,
      bad: {
        facts: {
          cp1: {
            interfaces: [{ name: 'eth0', addresses: ['10.0.0.11', '10.0.0.77'], mac: '52:54:00:00:00:01', mtu: 1500 }],
          },
          w1: {
            interfaces: [{ name: 'eth0', addresses: ['10.0.0.21', '10.0.0.77'], mac: '52:54:00:00:00:02', mtu: 1500 }],
          },
        },
      },
    },
  ],
  'clock-skew': [{ finds: /600 s ahead/, bad: { facts: { w1: { clockOffsetMs: 600_000 } } } }],
  'operator-clock': [
    {
      finds: /this machine is 86400 s ahead/,
      bad: { facts: Object.fromEntries(['cp1', 'w1', 'w2'].map((name) => [name, { clockOffsetMs: -86_400_000 }])) },
    },
  ],
  mtu: [
    {
      finds: /MTU of 1400/,
      bad: {
        facts: {
          w1: { interfaces: [{ name: 'eth0', addresses: ['10.0.0.21'], mac: '52:54:00:00:00:01', mtu: 1400 }] },
        },
      },
    },
    // VXLAN's header counts, and host-gw has none.
    {
      finds: /eth0 has an MTU of 1300, and 1330 are needed/,
      bad: narrowHosts(flannelNetwork()),
      good: narrowHosts(flannelNetwork({ backend: 'host-gw' })),
    },
  ],
  'endpoint-name': [
    {
      finds: /cannot resolve k8s\.example\.com/,
      bad: w1({ lookups: 'own known 127.0.1.1\nlocalhost known 127.0.0.1\nk8s.example.com known\n' }),
    },
    {
      finds: /resolves k8s\.example\.com to 198\.51\.100\.7/,
      bad: w1({ lookups: 'own known 127.0.1.1\nlocalhost known 127.0.0.1\nk8s.example.com known 198.51.100.7\n' }),
    },
    {
      finds: /other hosts to 10\.0\.0\.11/,
      bad: {
        inventory: inventory({ loadBalancer: { kind: 'external' } }),
        printed: {
          w1: { lookups: 'own known 127.0.1.1\nlocalhost known 127.0.0.1\nk8s.example.com known 198.51.100.7\n' },
        },
      },
    },
  ],
  endpoint: [{ finds: /packets to it are lost/, bad: { facts: { w1: { endpoint: 'silent' } } } }],
  'kubelet-arguments': [
    {
      finds:
        /gives the kubelet --pod-infra-container-image, which Kubernetes 1\.36\.\d+ does not have: it would end at once/,
      bad: w1({ kubeletOverrides: 'debian\nKUBELET_EXTRA_ARGS=--pod-infra-container-image=x\n' }),
      good: w1({ kubeletOverrides: 'debian\nKUBELET_EXTRA_ARGS=\n' }),
    },
    {
      finds: /sets KUBELET_EXTRA_ARGS \(--max-pods, -v\), which wins over the inventory/,
      bad: w1({ kubeletOverrides: 'debian\nKUBELET_EXTRA_ARGS="--max-pods=50 -v=4"\n' }),
      good: w1({ kubeletOverrides: 'debian\nKUBELET_EXTRA_ARGS=\n' }),
    },
  ],
  'version-skew': [
    {
      finds: /newer than/,
      bad: { cluster: clusterOf({ nodes: [nodeOf({ name: 'w1', kubeletVersion: '1.37.0' })] }) },
      good: { cluster: clusterOf() },
    },
    {
      finds: /the API servers run different versions \(1[.]36[.]3 on cp1; kubeadm noted 1[.]36[.]4\)/,
      bad: { cluster: clusterOf({ version: '1.36.4', pods: [apiServerOf('1.36.3')] }) },
      good: { cluster: clusterOf({ pods: [apiServerOf('1.36.3')] }) },
    },
  ],
  'api-channel': [
    {
      finds:
        /kubectl on the host asks the cluster, because its SSH connection cannot [(]administratively prohibited[)]/,
      bad: { cluster: clusterOf({ detour: 'administratively prohibited' }) },
      good: { cluster: clusterOf() },
    },
  ],
  'etcd-space': [
    {
      finds: /etcd is full and takes no writes, so nothing in the cluster can change \(NOSPACE on 1\)/,
      bad: { cluster: clusterOf({ members: [memberOf(1)], alarms: ['NOSPACE on 1'] }) },
      good: { cluster: clusterOf({ members: [memberOf(1)] }) },
    },
    {
      finds: /cp2 has 85[.]0 MiB \(20[.]0 MiB in use\) of its quota of 100 MiB: when it is full, etcd takes no writes/,
      bad: { cluster: clusterOf({ members: [memberOf(1), memberOf(2, spaceOf(85, 20, 100))] }) },
      good: { cluster: clusterOf({ members: [memberOf(1), memberOf(2, spaceOf(80, 20, 100))] }) },
    },
    {
      finds: /etcd1 has 85[.]0 MiB/,
      bad: {
        cluster: {
          state: 'absent',
          etcd: {
            state: 'up',
            via: 'etcd1',
            alarms: [],
            members: [memberOf(1, { name: 'etcd1', ...spaceOf(85, 85, 100) })],
          },
        },
      },
    },
  ],
  'etcd-learners': [
    {
      finds: /etcd's member cp1 \(1\) is a learner: it does not vote/,
      bad: { cluster: clusterOf({ members: [memberOf(1, { learner: true })] }) },
      good: { cluster: clusterOf({ members: [memberOf(1)] }) },
    },
    {
      finds: /etcd's member at https:\/\/10[.]0[.]0[.]12:2380, which never started, \(2\) is a learner/,
      bad: {
        cluster: {
          state: 'absent',
          etcd: {
            state: 'up',
            via: 'etcd1',
            alarms: [],
            members: [memberOf(1, { name: 'etcd1' }), memberOf(2, { name: '', learner: true })],
          },
        },
      },
    },
  ],
  'kubelet-answers': [
    {
      finds: /its kubelet did not tell what it runs with/,
      bad: { cluster: clusterOf() },
      good: { cluster: clusterOf({ kubelets: new Map([['cp1', {}]]) }) },
    },
    {
      finds: /did not tell/,
      bad: { cluster: clusterOf() },
      good: { cluster: clusterOf({ nodes: [nodeOf({ name: 'cp1', ready: false, role: 'control-plane' })] }) },
    },
  ],
  unnamed: [
    {
      finds: /is a node of the cluster, and the inventory does not name it/,
      bad: { cluster: clusterOf({ nodes: [nodeOf({ name: 'w9' })] }) },
      good: { cluster: clusterOf() },
    },
    {
      finds: /is a member of its etcd, and the inventory does not name it/,
      bad: {
        cluster: {
          ...clusterOf(),
          etcd: {
            state: 'up',
            via: 'etcd1',
            alarms: [],
            members: [{ id: '9', name: 'etcd9', peerUrl: '', learner: false, healthy: true, leader: true, dbSize: 1 }],
          },
        },
      },
    },
  ],
  'port-matrix': [
    {
      finds: /tcp port 6443 \(kube-apiserver\) cannot be reached from w1: no answer/,
      bad: {
        surveys: {
          ...noSurveys,
          ports: {
            tried: 1,
            failed: [],
            narrow: [],
            unverified: [],
            blocked: [
              {
                way: {
                  to: cpHost,
                  port: 6443,
                  protocol: 'tcp',
                  program: 'kube-apiserver',
                  from: [workerHost],
                  free: true,
                },
                from: workerHost,
                how: 'no answer within 10 s',
              },
            ],
          },
        },
      },
      good: { surveys: noSurveys },
    },
    {
      finds: /udp port 8472 \(flannel\) was not tried: it is in use/,
      bad: {
        surveys: {
          ...noSurveys,
          ports: {
            ...noSurveys.ports,
            unverified: [
              { to: workerHost, port: 8472, protocol: 'udp', program: 'flannel', from: [cpHost], free: false },
            ],
          },
        },
      },
    },
    {
      finds: /tcp port 10250 \(kubelet\) is closed by the host's firewall, which up opens/,
      bad: {
        inventory: inventory({ firewall: 'open' }),
        printed: { w1: { firewall: UFW.replace('10250', '10255') } },
        surveys: {
          ...noSurveys,
          ports: {
            ...noSurveys.ports,
            blocked: [
              {
                way: { to: workerHost, port: 10250, protocol: 'tcp', program: 'kubelet', from: [cpHost], free: true },
                from: cpHost,
                how: 'no answer within 10 s',
              },
            ],
          },
        },
      },
      good: { inventory: inventory({ firewall: 'open' }), surveys: noSurveys },
    },
  ],
  'pod-network': [
    {
      finds:
        /^pods on cp1 do not reach those on w1, w2: no answer within 3 s\npods on w1 do not reach the API at its Service address: refused\npods on w1 do not reach cluster DNS for kubernetes.default: i\/o timeout$/,
      bad: podsOf({
        blocked: [
          { from: 'cp1', to: { about: 'pod', node: 'w1' }, how: 'no answer within 3 s' },
          { from: 'cp1', to: { about: 'pod', node: 'w2' }, how: 'no answer within 3 s' },
          { from: 'w1', to: { about: 'api' }, how: 'refused' },
          { from: 'w1', to: { about: 'dns' }, how: 'i/o timeout' },
        ],
      }),
      good: podsOf({}),
    },
    {
      finds: /^could not try the network from a pod on w1: Failed to pull image$/,
      bad: podsOf({ failed: [{ node: 'w1', reason: 'Failed to pull image' }] }),
      good: { surveys: noSurveys },
    },
    {
      finds: /^the network of pods was not tried on win1: its pods are tried by/,
      bad: podsOf({ untried: [{ node: 'win1', reason: 'its pods are tried by `kbuild windows selftest`' }] }),
    },
    {
      finds: /^could not try the network from pods: the cluster does not answer/,
      bad: { surveys: { ...noSurveys, pods: { failed: 'the cluster does not answer: cp1' } } },
    },
  ],
  'path-mtu': [
    {
      finds: /packets of 1500 bytes.* vanish, on the way to cp1/,
      bad: {
        surveys: { ...noSurveys, ports: { ...noSurveys.ports, narrow: [{ from: workerHost, to: cpHost, mtu: 1500 }] } },
      },
      good: { surveys: noSurveys },
    },
    {
      finds: /do not fit: a router told 1400/,
      bad: {
        surveys: {
          ...noSurveys,
          ports: { ...noSurveys.ports, narrow: [{ from: workerHost, to: cpHost, mtu: 1500, reported: 1400 }] },
        },
      },
    },
  ],
  'overlay-mount': [
    {
      finds: /does not work where \/var\/lib\/containerd lies: .*wrong fs type/,
      bad: {
        surveys: {
          ...noSurveys,
          overlays: [{ host: workerHost, found: { error: 'mount: merged: wrong fs type, bad option' } }],
        },
      },
      good: { surveys: { ...noSurveys, overlays: [{ host: workerHost, found: 'works' }] } },
    },
  ],
  'disk-sync': [
    {
      finds: /takes 45 ms/,
      bad: {
        surveys: {
          ...noSurveys,
          disks: [{ host: cpHost, found: { medianMs: 45, maxMs: 300, folder: '/var/lib/etcd' } }],
        },
      },
      good: {
        surveys: {
          ...noSurveys,
          disks: [{ host: cpHost, found: { medianMs: 0.8, maxMs: 12, folder: '/var/lib/etcd' } }],
        },
      },
    },
  ],
  downloads: [
    {
      finds: /cannot get registry\.k8s\.io\/pause:3\.10\.2: .*404/,
      bad: {
        surveys: {
          ...noSurveys,
          downloads: [
            {
              host: workerHost,
              found: [
                {
                  wanted: { kind: 'image', what: 'registry.k8s.io/pause:3.10.2', urls: [] },
                  faults: [{ url: 'https://registry.k8s.io/v2/pause', kind: 'missing', why: 'is not there (404)' }],
                },
              ],
            },
          ],
        },
      },
      good: { surveys: { ...noSurveys, downloads: [{ host: workerHost, found: [] }] } },
    },
  ],
};

function all(printed: RawAnswers): Readonly<Record<string, RawAnswers>> {
  return Object.fromEntries(['cp1', 'w1', 'w2'].map((name) => [name, printed]));
}
