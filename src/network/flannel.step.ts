import { UNCONFINED } from '../host/kernel.value.ts';
import { familiesOf } from '../inventory/addresses.ts';
import { confinesContainers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Flannel } from '../inventory/network-plugins.ts';
import type { JsonObject } from '../shell/decode.ts';
import { sha256Of } from '../shell/secret.ts';
import { flannel as plugin, FLANNEL_NAMESPACE as NAMESPACE, flannelNetConf } from './flannel.value.ts';
import type { PluginPart } from './plugin.step.ts';
import { CONFIG_ANNOTATION, type InventoryWith } from './plugin.value.ts';

const CONFIG = 'kube-flannel-cfg';
const ACCOUNT = 'flannel';

const { label: LABEL, cniConfig: CNI_CONFIG_FILE } = plugin.agent!;

const named = (apiVersion: string, kind: string, name: string, rest: object): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
  ...rest,
});

const inNamespace = (apiVersion: string, kind: string, name: string, rest: object): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: NAMESPACE },
  ...rest,
});

/**
 * hairpinMode lets a pod reach itself through its Service. portmap implements hostPort. Without `mtu` flannel's CNI
 * plugin takes that of flanneld.
 */
const cniConfig = ({ network: { mtu } }: Inventory) => ({
  name: 'cbr0',
  cniVersion: '0.3.1',
  plugins: [
    { type: 'flannel', delegate: { hairpinMode: true, isDefaultGateway: true, ...(mtu === undefined ? {} : { mtu }) } },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
});

const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

const copies = (name: string, image: string, from: string, to: string, mounts: readonly object[]) => ({
  name,
  image,
  command: ['cp'],
  args: ['-f', from, to],
  volumeMounts: mounts,
});

const configData = (inventory: InventoryWith<'flannel'>) => ({
  'cni-conf.json': JSON.stringify(cniConfig(inventory), undefined, 2),
  'net-conf.json': flannelNetConf(inventory, 'linux'),
});

const CONFIG_MOUNT = { name: 'flannel-cfg', mountPath: '/etc/kube-flannel/' };

const VOLUMES = [
  { name: 'run', hostPath: { path: '/run/flannel' } },
  { name: 'cni-plugin', hostPath: { path: '/opt/cni/bin' } },
  { name: 'cni', hostPath: { path: '/etc/cni/net.d' } },
  { name: 'flannel-cfg', configMap: { name: CONFIG } },
  { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
];

const initContainers = ({ image, cniPluginImage }: Flannel): readonly JsonObject[] => [
  copies('install-cni-plugin', cniPluginImage, '/flannel', '/opt/cni/bin/flannel', [
    { name: 'cni-plugin', mountPath: '/opt/cni/bin' },
  ]),
  copies('install-cni', image, '/etc/kube-flannel/cni-conf.json', `/etc/cni/net.d/${CNI_CONFIG_FILE}`, [
    { name: 'cni', mountPath: '/etc/cni/net.d' },
    CONFIG_MOUNT,
  ]),
];

const FLANNELD = ['--ip-masq', '--kube-subnet-mgr'];

/**
 * The command of flanneld, with the addresses of its node: those of the host's internalAddress. With an address for an
 * interface, flanneld takes the interface, and of IPv6 whichever address is the first there (`pkg/ipmatch/match.go`): a
 * pattern gives it the address itself. Both families of a node are one text, `10.0.0.11,fd00::11`.
 */
function command(inventory: Inventory): { readonly command: readonly string[]; readonly args: readonly string[] } {
  const families = familiesOf(inventory);
  if (families.length === 2) {
    const text = `exec /opt/bin/flanneld ${FLANNELD.join(' ')} "--iface-regex=^(\${HOST_IPS%,*}|\${HOST_IPS#*,})\\$"`;
    return { command: ['/bin/sh', '-c'], args: [text] };
  }
  const iface = families[0] === 'IPv6' ? '--iface-regex=^$(HOST_IP)$' : '--iface=$(HOST_IP)';
  return { command: ['/opt/bin/flanneld'], args: [...FLANNELD, iface] };
}

const flanneld = (inventory: InventoryWith<'flannel'>): JsonObject => ({
  name: 'kube-flannel',
  image: inventory.network.flannel.image,
  ...command(inventory),
  resources: { requests: { cpu: '100m', memory: '50Mi' } },
  securityContext: { privileged: false, capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
  env: [
    familiesOf(inventory).length === 2 ? field('HOST_IPS', 'status.hostIPs') : field('HOST_IP', 'status.hostIP'),
    field('POD_NAME', 'metadata.name'),
    field('POD_NAMESPACE', 'metadata.namespace'),
    { name: 'EVENT_QUEUE_DEPTH', value: '5000' },
    { name: 'CONT_WHEN_CACHE_NOT_READY', value: 'false' },
  ],
  volumeMounts: [
    { name: 'run', mountPath: '/run/flannel' },
    CONFIG_MOUNT,
    { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
  ],
});

function daemonSet(inventory: InventoryWith<'flannel'>): JsonObject {
  const { flannel } = inventory.network;
  const labels = { [LABEL.name]: LABEL.value };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'kube-flannel-ds', namespace: NAMESPACE, labels },
    spec: {
      selector: { matchLabels: labels },
      // With one node at a time, the default, a large cluster would take an hour.
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        // flanneld reads its ConfigMap only at its start. A new hash restarts the pods.
        metadata: {
          labels,
          annotations: { [CONFIG_ANNOTATION]: sha256Of(JSON.stringify(configData(inventory))).slice(0, 16) },
        },
        spec: {
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          hostNetwork: true,
          // The pods write files and sockets of the host. SELinux forbids that to confined containers.
          ...(confinesContainers(inventory) ? { securityContext: UNCONFINED } : {}),
          priorityClassName: 'system-node-critical',
          tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }],
          serviceAccountName: ACCOUNT,
          initContainers: initContainers(flannel),
          containers: [flanneld(inventory)],
          volumes: VOLUMES,
        },
      },
    },
  };
}

/** The objects of flannel with the inventory's networks and images. */
export function flannelObjects(inventory: InventoryWith<'flannel'>): readonly JsonObject[] {
  const rbac = 'rbac.authorization.k8s.io';
  return [
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    inNamespace('v1', 'ServiceAccount', ACCOUNT, {}),
    named(`${rbac}/v1`, 'ClusterRole', 'flannel', {
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
        { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
      ],
    }),
    named(`${rbac}/v1`, 'ClusterRoleBinding', 'flannel', {
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'flannel' },
      subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: NAMESPACE }],
    }),
    inNamespace('v1', 'ConfigMap', CONFIG, {
      data: configData(inventory),
    }),
    daemonSet(inventory),
  ];
}

/** flannel's objects, which kbuild compares field by field. */
export const flannel: PluginPart<'flannel'> = {
  name: 'flannel',
  manifest: (inventory) => {
    const { image, nftables } = inventory.network.flannel;
    return {
      title: `flannel ${image.split(':').at(-1)!}${nftables ? ' with nftables' : ''}`,
      objects: flannelObjects(inventory),
      compare: 'fields',
    };
  },
};
