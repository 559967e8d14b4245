import { createHash } from 'node:crypto';
import {
  FLANNEL_NAMESPACE as NAMESPACE,
  flannelNetConf,
  flannel as plugin,
} from '../components/network-plugins/flannel.ts';
import { CONFIG_ANNOTATION, type InventoryWith } from '../components/network-plugins/network-plugin.ts';
import type { JsonObject } from '../model/inventory.ts';
import type { Flannel } from '../model/network-plugins.ts';
import type { PluginPart } from './part.ts';

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

/** How the kubelet's runtime connects pods: hairpin, so that a pod reaches itself through its Service; portmap for hostPort. */
const CNI_CONFIG = {
  name: 'cbr0',
  cniVersion: '0.3.1',
  plugins: [
    { type: 'flannel', delegate: { hairpinMode: true, isDefaultGateway: true } },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};

const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

const copies = (name: string, image: string, from: string, to: string, mounts: readonly object[]) => ({
  name,
  image,
  command: ['cp'],
  args: ['-f', from, to],
  volumeMounts: mounts,
});

const configData = (inventory: InventoryWith<'flannel'>) => ({
  'cni-conf.json': JSON.stringify(CNI_CONFIG, undefined, 2),
  'net-conf.json': flannelNetConf(inventory),
});

const configHash = (inventory: InventoryWith<'flannel'>): string =>
  createHash('sha256')
    .update(JSON.stringify(configData(inventory)))
    .digest('hex')
    .slice(0, 16);

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

const flanneld = ({ image }: Flannel): JsonObject => ({
  name: 'kube-flannel',
  image,
  command: ['/opt/bin/flanneld'],
  // flanneld takes an address for an interface: the node's own, which is the host's internalAddress.
  args: ['--ip-masq', '--kube-subnet-mgr', '--iface=$(HOST_IP)'],
  resources: { requests: { cpu: '100m', memory: '50Mi' } },
  securityContext: { privileged: false, capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
  env: [
    field('HOST_IP', 'status.hostIP'),
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
      // If the nodes were updated one by one, a large cluster would need an hour.
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        // Pods do not read a changed ConfigMap again: another hash rolls them.
        metadata: { labels, annotations: { [CONFIG_ANNOTATION]: configHash(inventory) } },
        spec: {
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          hostNetwork: true,
          priorityClassName: 'system-node-critical',
          tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }],
          serviceAccountName: ACCOUNT,
          initContainers: initContainers(flannel),
          containers: [flanneld(flannel)],
          volumes: VOLUMES,
        },
      },
    },
  };
}

/** The objects of flannel with the inventory's networks and images: tunnels or routes between the hosts' internal addresses. */
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

/** flannel in the cluster. */
export const flannel: PluginPart<'flannel'> = {
  name: 'flannel',
  manifest: (inventory) => ({
    title: `flannel ${inventory.network.flannel.image.split(':').at(-1)!}`,
    objects: flannelObjects(inventory),
    compare: 'fields',
  }),
};
