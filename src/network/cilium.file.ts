import { endpointParts, hasIpv6 } from '../inventory/addresses.ts';
import { laidOver } from '../inventory/merge.ts';
import { hasKubeProxy } from '../inventory/network-plugins.ts';
import { type ChartEntry, isChartFile } from '../inventory/schema/charts.ts';
import { ciliumSettings } from '../inventory/schema/network.ts';
import { type Path, problem, type Rule, type Violation, warning } from '../inventory/schema/rule.ts';
import type { InventoryFile } from '../inventory/schema/schema.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import { minorNumber } from '../versions.ts';
import type { PluginFile } from './plugin.file.ts';

const PATH = ['network', 'cilium'];

/** SHA-256 of https://helm.cilium.io/cilium-VERSION.tgz. */
const CHARTS: Readonly<Record<string, string>> = {
  '1.19.5': '56b60445a2c650b387ce2edb13cfd8d83219a9da693b0523915dba8be451a29e',
  '1.19.6': '21c43cf53841f9ab0375047d95aa4c64051ea52bbd2c679416e6408f5f1c9179',
  '1.20.2': 'b2afd87b7f75f875f92a14559f14f59b7babbb479d968e3fd625a20bf30ec20e',
};

/** Minors of Kubernetes that each minor of Cilium is tested with, first and last: its `compatibility.rst`. */
const TESTED: Readonly<Record<number, readonly [number, number]>> = { 19: [32, 35], 20: [33, 36] };
const OLDEST = 19;

/** UDP ports of tunnels, as Cilium has them. */
const PORTS = { vxlan: 8472, geneve: 6081, native: undefined } as const;

/** Values of the chart that follow other settings, by their paths, and what to use instead. */
const OWNED: Readonly<Record<string, string>> = {
  MTU: 'use network.mtu',
  agent: 'kbuild waits for the agents',
  'bpf.autoMount': 'kbuild leaves the mount of bpffs to Cilium',
  'bpf.root': 'kbuild and Cilium expect it at /sys/fs/bpf',
  cgroup: 'kbuild leaves the mount of cgroup2 to Cilium',
  'cni.binPath': 'the runtime reads /opt/cni/bin',
  'cni.chainingMode': 'Cilium is the only network plugin',
  'cni.confPath': 'the runtime reads /etc/cni/net.d',
  'cni.exclusive': 'Cilium is the only network plugin',
  'cni.install': 'no node is Ready without it',
  'daemon.runPath': '`reset` removes /run/cilium',
  'encryption.enabled': 'use network.cilium.wireguard',
  'encryption.type': 'use network.cilium.wireguard',
  'hubble.enabled': 'use network.cilium.hubble',
  'ipam.mode': 'use network.cilium.ipam',
  'ipam.operator.clusterPoolIPv4PodCIDRList': 'use network.podSubnet',
  'ipv4.enabled': 'pods have the addresses of network.podSubnet',
  'ipv6.enabled': 'pods have the addresses of network.podSubnet',
  ipv4NativeRoutingCIDR: 'use network.podSubnet',
  k8sServiceHost: 'use kubernetes.endpoint',
  k8sServiceHostRef: 'use kubernetes.endpoint',
  k8sServiceLookupConfigMapName: 'use kubernetes.endpoint',
  k8sServicePort: 'use kubernetes.endpoint',
  'k8s.apiServerURLs': 'use kubernetes.endpoint',
  kubeProxyReplacement: 'use network.kubeProxy',
  name: 'kbuild waits for the DaemonSet cilium',
  namespaceOverride: 'Cilium lives in kube-system',
  'operator.enabled': 'no pod gets an address without it',
  'preflight.enabled': 'its own chart has no agent',
  routingMode: 'use network.cilium.routing',
  tunnelPort: 'use network.cilium.port',
  tunnelProtocol: 'use network.cilium.routing',
};

const has = (values: unknown, [key, ...rest]: readonly string[]): boolean =>
  key === undefined || (isObject(values) && Object.hasOwn(values, key) && has(values[key], rest));

const settingsOf = ({ network }: InventoryFile) => network.cilium ?? ciliumSettings.parse({});

/** What an inventory may override: what its own settings do not say. */
const defaults = (file: InventoryFile): JsonObject => ({
  autoDirectNodeRoutes: settingsOf(file).routing === 'native',
  envoy: { enabled: false },
  // Certificates that a rendering makes up would change with every run.
  hubble: { relay: { enabled: settingsOf(file).hubble, rollOutPods: true }, tls: { auto: { method: 'cronJob' } } },
  ...(hasKubeProxy(file) ? {} : { kubeProxyReplacementHealthzBindAddr: '0.0.0.0:10256' }),
  // No two of them run on one node.
  operator: { replicas: Math.min(2, file.hosts.filter(({ role }) => /^(?:control-plane|worker)$/.test(role)).length) },
});

/** What the inventory decides. */
function decided(file: InventoryFile, endpoint: string): JsonObject {
  const { routing, port, ipam, wireguard, hubble } = settingsOf(file);
  const { podSubnet, mtu } = file.network;
  const { host, port: apiPort } = endpointParts(endpoint) ?? {};
  return {
    kubeProxyReplacement: !hasKubeProxy(file),
    // The agent needs the API before anything serves the addresses of Services.
    k8sServiceHost: host,
    k8sServicePort: apiPort,
    ipam: { mode: ipam, operator: { clusterPoolIPv4PodCIDRList: [podSubnet] } },
    ...(routing === 'native'
      ? { routingMode: 'native', ipv4NativeRoutingCIDR: podSubnet }
      : { routingMode: 'tunnel', tunnelProtocol: routing, tunnelPort: port ?? PORTS[routing] }),
    encryption: wireguard ? { enabled: true, type: 'wireguard' } : { enabled: false },
    hubble: { enabled: hubble },
    cni: { exclusive: true },
    ...(mtu === undefined ? {} : { MTU: mtu }),
    ...(file.network.loadBalancers?.kind === 'cilium' ? { l2announcements: { enabled: true } } : {}),
    // A changed ConfigMap would restart nothing.
    rollOutCiliumPods: true,
    operator: { rollOutPods: true },
  };
}

function entry(file: InventoryFile, endpoint: string): ChartEntry {
  const { version, chart = `https://helm.cilium.io/cilium-${version}.tgz`, sha256, values } = settingsOf(file);
  const hash = sha256 ?? (settingsOf(file).chart === undefined ? CHARTS[version] : undefined);
  return {
    name: 'cilium',
    namespace: 'kube-system',
    chart,
    ...(chart.startsWith('oci://') ? { version } : {}),
    ...(hash === undefined ? {} : { sha256: hash }),
    values: laidOver(laidOver(defaults(file), values), decided(file, endpoint)),
    ...{ valuesFiles: [], secretValues: {} },
    apiVersions: [],
    clusterKinds: [],
  };
}

/** A chart is code that runs in the cluster: it comes from a file, or is pinned by its hash. */
function chartProblems(file: InventoryFile): readonly Violation[] {
  const { version, chart, sha256 } = settingsOf(file);
  if (minorNumber(version) < OLDEST)
    return [problem([...PATH, 'version'], `must be 1.${String(OLDEST)} or newer: kbuild knows no older chart`)];
  if (chart !== undefined && !isChartFile(entry(file, '')) && !/^(?:https|oci):\/\/[^\s/]+\/\S+$/.test(chart))
    return [problem([...PATH, 'chart'], 'must be a .tgz file, an https:// URL or an oci:// reference without tag')];
  if (sha256 !== undefined || entry(file, '').sha256 !== undefined || isChartFile(entry(file, ''))) return [];
  return [
    problem(
      [...PATH, 'sha256'],
      `is required: the SHA-256 of the packaged chart (\`helm pull\`, then sha256sum); kbuild knows that of ` +
        `https://helm.cilium.io for ${Object.keys(CHARTS).join(', ')}`,
    ),
  ];
}

function untested({ kubernetes, ...file }: InventoryFile): readonly Violation[] {
  const { version } = settingsOf({ kubernetes, ...file });
  const tested = TESTED[minorNumber(version)];
  const minor = minorNumber(kubernetes.version);
  if (tested !== undefined && minor >= tested[0] && minor <= tested[1]) return [];
  const known = tested === undefined ? 'versions that kbuild does not know' : `1.${tested.join(' to 1.')}`;
  return [
    warning(
      [...PATH, 'version'],
      `Cilium ${version} is tested by its project with Kubernetes ${known}, and this is ${kubernetes.version}`,
    ),
  ];
}

const RP_FILTER = 'net.ipv4.conf.all.rp_filter';

/** Cilium sets it to 0 whenever its pod starts: two owners would change it for ever. */
function rpFilter({ sysctls, roles, groups, hosts }: InventoryFile): readonly Violation[] {
  const levels: readonly (readonly [Path, Readonly<Record<string, unknown>>])[] = [
    [[], sysctls],
    ...Object.entries(roles).map(([name, level]) => [['roles', name], level.sysctls] as const),
    ...Object.entries(groups).map(([name, level]) => [['groups', name], level.sysctls] as const),
    ...hosts.map((host, i) => [['hosts', i], host.sysctls] as const),
  ];
  return levels.flatMap(([path, { [RP_FILTER]: value = 0 }]) =>
    String(value) === '0'
      ? []
      : [problem([...path, 'sysctls', RP_FILTER], 'must be 0: Cilium sets it, and drops packets of pods otherwise')],
  );
}

/** Cilium answers for addresses of Services only where it serves Services itself (its `l2-announcements.rst`). */
const answersAlone: Rule = (file) =>
  file.network.loadBalancers?.kind !== 'cilium' || (file.network.plugin === 'cilium' && !hasKubeProxy(file))
    ? []
    : [
        problem(
          ['network', 'loadBalancers', 'kind'],
          'cilium answers for addresses only as the network plugin and without kube-proxy: set network.plugin: ' +
            'cilium and network.kubeProxy: none, or kind: metallb',
        ),
      ];

const rule: Rule = (file) => {
  const { routing, port, values } = settingsOf(file);
  return [
    ...chartProblems(file),
    ...untested(file),
    ...rpFilter(file),
    ...answersAlone(file),
    ...(file.network.nodeLocalDNS === undefined
      ? []
      : [
          problem(
            ['network', 'nodeLocalDNS'],
            'Cilium serves the address of cluster DNS before any cache on the node is asked, and kbuild does not set ' +
              'up its local redirect policy: remove it',
          ),
        ]),
    ...(hasIpv6(file)
      ? [problem(['network', 'podSubnet'], 'has IPv6, for which kbuild does not set Cilium up: use IPv4 alone')]
      : []),
    ...(routing === 'native' && port !== undefined
      ? [problem([...PATH, 'port'], 'is the port of a tunnel, and routing native has none: remove it')]
      : []),
    ...Object.entries(OWNED).flatMap(([path, instead]) =>
      has(values, path.split('.'))
        ? [problem([...PATH, 'values', ...path.split('.')], `is set by kbuild: ${instead}`)]
        : [],
    ),
  ];
};

/** Reads the settings of Cilium, and the values of its chart. */
export const cilium: PluginFile<'cilium'> = {
  rule,
  otherwise: (file) => [
    ...(file.network.cilium === undefined ? [] : [problem(PATH, 'is only for network.plugin cilium')]),
    ...answersAlone(file),
  ],
  chart: { path: PATH, entry },
  settings: (file) => {
    const { version, routing, port, ipam, wireguard, hubble } = settingsOf(file);
    return {
      plugin: 'cilium',
      cilium: {
        ...{ version, routing, ipam, wireguard, hubble },
        port: routing === 'native' ? undefined : (port ?? PORTS[routing]),
        replacesKubeProxy: !hasKubeProxy(file),
      },
      windows: undefined,
    };
  },
};
