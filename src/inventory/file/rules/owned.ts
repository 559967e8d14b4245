import { REQUIRED_SYSCTLS, REQUIRED_WITH_IPV6 } from '../../../host/kernel.value.ts';
import { networkPluginNamed } from '../../../network/plugins.value.ts';
import { hasIpv6 } from '../../addresses.ts';
import { type Path, problem, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { below, kubeletPlaces } from './kubernetes/places.ts';

/** A field that kbuild sets itself, as a dotted path, and what to use instead. */
type Owned = Readonly<Record<string, string>>;

const OBJECT: Owned = { apiVersion: '', kind: '' };
const OWN = 'kbuild decides it';

const NODE_REGISTRATION: Owned = {
  'nodeRegistration.name': 'use hosts[].name',
  'nodeRegistration.criSocket': 'it follows runtime.name',
  'nodeRegistration.taints': 'use taints of the host or of its role',
  'nodeRegistration.kubeletExtraArgs': 'use kubelet.extraArgs',
};

const KUBEADM: Readonly<Record<'init' | 'cluster' | 'join' | 'kubeProxy' | 'reset', Owned>> = {
  init: {
    ...OBJECT,
    ...NODE_REGISTRATION,
    'localAPIEndpoint.advertiseAddress': 'use internalAddress of the host',
    bootstrapTokens: 'kbuild mints a token for every join',
    certificateKey: 'kbuild mints one for every join',
    'patches.directory': 'use kubeadm.patches',
    dryRun: 'use "kbuild plan"',
  },
  cluster: {
    ...OBJECT,
    clusterName: 'use name',
    kubernetesVersion: 'use kubernetes.version',
    controlPlaneEndpoint: 'use kubernetes.endpoint',
    imageRepository: 'use kubernetes.imageRepository',
    'networking.podSubnet': 'use network.podSubnet',
    'networking.serviceSubnet': 'use network.serviceSubnet',
    'networking.dnsDomain': 'use kubernetes.dnsDomain',
    'etcd.external': 'use etcd.topology',
    certificatesDir: 'kbuild needs /etc/kubernetes/pki',
  },
  join: {
    ...OBJECT,
    ...NODE_REGISTRATION,
    discovery: 'kbuild mints a token for every join',
    'controlPlane.certificateKey': 'kbuild mints one for every join',
    'controlPlane.localAPIEndpoint': 'use internalAddress of the host',
    caCertPath: OWN,
    'patches.directory': 'use kubeadm.patches',
    dryRun: 'use "kbuild plan"',
  },
  kubeProxy: { ...OBJECT, clusterCIDR: 'use network.podSubnet' },
  reset: {
    ...OBJECT,
    criSocket: 'it follows runtime.name',
    certificatesDir: 'kbuild needs /etc/kubernetes/pki',
    dryRun: OWN,
    force: OWN,
  },
};

const KUBELET_CONFIG: Owned = {
  ...OBJECT,
  cgroupDriver: 'use runtime.cgroupDriver',
  clusterDomain: 'use kubernetes.dnsDomain',
  containerRuntimeEndpoint: 'it follows runtime.name',
  staticPodPath: 'kubeadm needs /etc/kubernetes/manifests',
};

function given(object: unknown, field: readonly string[]): boolean {
  const [name, ...rest] = field;
  if (name === undefined) return true;
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return false;
  return given((object as Readonly<Record<string, unknown>>)[name], rest);
}

/** What changed since kubeadm's older APIs, for a pasted file. Source: the reference of kubeadm-config.v1beta4. */
const CHANGED =
  'extraArgs are lists of name and value; apiServer.timeoutForControlPlane is ' +
  'init.timeouts.controlPlaneComponentHealthCheck, discovery.timeout is join.timeouts.discovery; dns.type and ' +
  'useHyperKubeImage are gone. "kubeadm config migrate --old-config FILE" rewrites a file';

function olderApi(object: unknown): string | undefined {
  const [, api] = /^kubeadm\.k8s\.io\/(v1(?:alpha|beta)[1-3])$/.exec(String(below(object, 'apiVersion'))) ?? [];
  return api === undefined
    ? undefined
    : `is kubeadm's older API ${api}; kbuild writes v1beta4: remove it. Since then ${CHANGED}`;
}

const refused = (object: unknown, owned: Owned, path: Path): readonly Violation[] =>
  Object.entries(owned).flatMap(([field, instead]) =>
    given(object, field.split('.'))
      ? [
          problem(
            [...path, ...field.split('.')],
            (field === 'apiVersion' ? olderApi(object) : undefined) ??
              `is set by kbuild: ${instead === '' ? 'remove it' : instead}`,
          ),
        ]
      : [],
  );

/** Overrides of kubeadm's configuration leave alone what the inventory has a setting for. */
export const ownedByKubeadm: Rule = ({ kubeadm, network }) => [
  ...refused(kubeadm, networkPluginNamed(network.plugin).owns, ['kubeadm']),
  ...(['init', 'cluster', 'join', 'kubeProxy', 'reset'] as const).flatMap((kind) =>
    refused(kubeadm[kind], KUBEADM[kind], ['kubeadm', kind]),
  ),
  ...(['init', 'join', 'reset'] as const).flatMap((kind) => {
    const registration = kubeadm[kind]['nodeRegistration'];
    const [holder, path]: readonly [unknown, Path] =
      kind === 'reset' ? [kubeadm.reset, ['kubeadm', kind]] : [registration, ['kubeadm', kind, 'nodeRegistration']];
    const ignored = (holder as { readonly ignorePreflightErrors?: unknown } | undefined)?.ignorePreflightErrors;
    return Array.isArray(ignored) && ignored.some((name) => String(name).toLowerCase() === 'all')
      ? [problem([...path, 'ignorePreflightErrors'], '"all" would hide what breaks the cluster; name the checks')]
      : [];
  }),
];

/** What is said of each field of a kubelet's configuration that kbuild sets; a patch names its own kind. */
export const ownedKubeletFields = (config: unknown): readonly string[] =>
  refused(config, KUBELET_CONFIG, [])
    .filter(({ path }) => !Object.hasOwn(OBJECT, String(path[0])))
    .map(({ path, message }) => `${path.join('.')}: ${message}`);

/** kubelet settings leave alone what the inventory has a setting for. */
export const ownedByKubelet: Rule = (file) =>
  kubeletPlaces(file).flatMap(([path, { config }]) => refused(config, KUBELET_CONFIG, [...path, 'config']));

/** True for a field of a document, or of the kubelet's configuration, that kbuild sets, and for what is in it. */
export const isOwnedField = (document: string, keys: readonly (string | number)[]): boolean =>
  Object.keys(document === 'kubelet' ? KUBELET_CONFIG : KUBEADM[document as keyof typeof KUBEADM]).some((field) =>
    field.split('.').every((part, i) => keys[i] === part),
  );

/** Labels that a kubelet, kubeadm or a cloud provider sets itself. */
const OWN_LABELS = /^(?:kubernetes\.io\/(?:arch|hostname|os)|node-role\.kubernetes\.io\/control-plane)$/;

/** Labels leave alone what Kubernetes sets. */
export const ownedLabels: Rule = ({ roles, groups, hosts }) => {
  const check = (labels: Readonly<Record<string, string>>, path: Path) =>
    Object.keys(labels).flatMap((key) =>
      OWN_LABELS.test(key) ? [problem([...path, 'labels', key], 'is set by Kubernetes itself: remove it')] : [],
    );
  return [
    ...Object.entries(roles).flatMap(([role, { labels }]) => check(labels, ['roles', role])),
    ...Object.entries(groups).flatMap(([name, { labels }]) => check(labels, ['groups', name])),
    ...hosts.flatMap(({ labels }, i) => check(labels, ['hosts', i])),
  ];
};

/**
 * Settings without which packets of pods are not forwarded. The kernel sets the last two with `net.ipv4.ip_forward`,
 * too.
 */
const FORWARDING: Readonly<Record<string, string>> = {
  ...REQUIRED_SYSCTLS,
  'net.ipv4.conf.all.forwarding': '1',
  'net.ipv4.conf.default.forwarding': '1',
};

/**
 * Settings that every kubelet sets when it starts: setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go.
 */
const OF_KUBELET: Readonly<Record<string, string>> = {
  'vm.overcommit_memory': '1',
  'vm.panic_on_oom': '0',
  'kernel.panic': '10',
  'kernel.panic_on_oops': '1',
  'kernel.keys.root_maxkeys': '1000000',
  'kernel.keys.root_maxbytes': '25000000',
};

const CONNTRACK = 'net.netfilter.nf_conntrack_max';

type Sysctls = InventoryFile['sysctls'];

/** The places of kernel settings that reach a host with a kubelet. */
const places = ({ sysctls, roles, groups, hosts }: InventoryFile): readonly (readonly [Path, Sysctls])[] => {
  const nodes = hosts.filter(({ role, os }) => role !== 'load-balancer' && os === 'linux');
  return [
    [['sysctls'], sysctls],
    ...Object.entries(roles).map(([role, shared]) => [['roles', role, 'sysctls'], shared.sysctls] as const),
    ...Object.entries(groups)
      .filter(([name]) => nodes.some((host) => host.groups.includes(name)))
      .map(([name, group]) => [['groups', name, 'sysctls'], group.sysctls] as const),
    ...hosts.flatMap((host, i) => (nodes.includes(host) ? [[['hosts', i, 'sysctls'], host.sysctls] as const] : [])),
  ];
};

/** Kernel settings leave alone what kbuild, the kubelet or kube-proxy sets: two owners would change them for ever. */
export const ownedSysctls: Rule = (file) => {
  const { conntrack } = file.kubeadm.kubeProxy as { readonly conntrack?: { readonly maxPerCore?: unknown } | null };
  const check = (path: Path, name: string, value: string): readonly Violation[] => {
    const forwarding = FORWARDING[name] ?? (hasIpv6(file) ? REQUIRED_WITH_IPV6[name] : undefined) ?? value;
    if (forwarding !== value)
      return [problem(path, `must be ${forwarding}: without it pods and Services do not work; remove it`)];
    const kubelet = OF_KUBELET[name] ?? value;
    if (kubelet !== value) return [problem(path, `the kubelet sets it to ${kubelet} when it starts; remove it`)];
    return name === CONNTRACK && conntrack?.maxPerCore !== 0
      ? [
          warning(
            path,
            'kube-proxy sets it when it starts; set kubeadm.kubeProxy.conntrack instead, or ' +
              'conntrack.maxPerCore: 0 there, which leaves it alone',
          ),
        ]
      : [];
  };
  return places(file).flatMap(([path, sysctls]) =>
    Object.entries(sysctls).flatMap(([name, value]) => check([...path, name], name, String(value))),
  );
};
