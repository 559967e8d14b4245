import { endpointHost, endpointParts } from '../../inventory/addresses.ts';
import { windowsHosts } from '../../inventory/hosts.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { FLANNEL_NAMESPACE as NAMESPACE, flannelWindowsPaths } from '../../network/flannel.value.ts';
import type { InventoryWith } from '../../network/plugin.value.ts';
import { windowsPaths } from '../../paths.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { podScript } from '../../templates.ts';
import { field, hostProcessDaemon, IMAGE_ROOT, powershellFile, SCRIPTS, values } from './host-pods.step.ts';

const RBAC = 'rbac.authorization.k8s.io';

const binding = (inventory: Inventory, name: string, role: string): JsonObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: windowsHosts(inventory).map((host) => ({ apiGroup: RBAC, kind: 'User', name: `system:node:${host.name}` })),
});

/**
 * ClusterRoleBindings for flanneld and kube-proxy as services. They have no ServiceAccount and use the kubelet's
 * certificate, so they act as their node. A node may read little about other nodes: each Windows node gets the missing
 * rights by name.
 */
export const nodeAccess = (inventory: Inventory): readonly JsonObject[] => [
  binding(inventory, 'kbuild-windows-flannel', 'flannel'),
  binding(inventory, 'kbuild-windows-kube-proxy', 'system:node-proxier'),
];

const SCRIPT = 'prepare-flannel.ps1';

/** Label of flannel's pods on Windows hosts. */
const WINDOWS_FLANNEL_LABEL = { name: 'app', value: 'flannel-windows' } as const;

/**
 * The API endpoint: HostProcess pods cannot use the address of the Service `kubernetes`, which Windows nodes do not
 * reach.
 */
const apiServer = ({ endpoint }: Inventory): Readonly<Record<string, string>> => ({
  KUBERNETES_SERVICE_HOST: endpointHost(endpoint),
  KUBERNETES_SERVICE_PORT: String(endpointParts(endpoint)?.port ?? 443),
});

/**
 * Time limit for flanneld to create its network, in seconds. It would wait forever, so the kubelet then restarts it.
 */
const NETWORK_SECONDS = 180;
const PROBE_SECONDS = 5;

/** flanneld writes `subnet.env` after it has created its network. */
const hasSubnet = {
  exec: { command: ['cmd.exe', '/c', `if exist ${flannelWindowsPaths.run}\\subnet.env (exit 0) else (exit 1)`] },
  periodSeconds: PROBE_SECONDS,
};

/** The settings that count on Windows: flanneld writes no rules there, so with other ones on Linux its pods go on. */
const onWindows = ({ nftables: _, ...settings }: InventoryWith<'flannel'>['network']['flannel']): JsonObject =>
  settings;

/**
 * flannel's objects for Windows hosts: HostProcess pods with the ServiceAccount and configuration of flannel on Linux.
 */
export function windowsFlannelObjects(inventory: InventoryWith<'flannel'>): readonly JsonObject[] {
  const { flannel, podSubnet, windows } = inventory.network;
  const image = windows!.flannelImage;
  const script = podScript(SCRIPT);
  const scripts = { name: 'scripts', mountPath: SCRIPTS };
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-flannel-windows', namespace: NAMESPACE },
      data: { [SCRIPT]: script },
    },
    hostProcessDaemon({
      name: 'kube-flannel-windows',
      namespace: NAMESPACE,
      label: WINDOWS_FLANNEL_LABEL,
      serviceAccount: 'flannel',
      configuration: JSON.stringify([script, onWindows(flannel), podSubnet]),
      initContainers: [
        {
          name: 'prepare',
          image,
          command: powershellFile(SCRIPT),
          env: values({ CNI_BIN: windowsPaths.cniBin, FLANNEL_RUN: flannelWindowsPaths.run }),
          volumeMounts: [scripts],
        },
      ],
      containers: [
        {
          name: 'kube-flannel',
          image,
          command: [`${IMAGE_ROOT}\\flannel\\flanneld.exe`],
          args: ['--kube-subnet-mgr', '--iface=$(HOST_IP)'],
          env: [
            field('HOST_IP', 'status.hostIP'),
            field('NODE_NAME', 'spec.nodeName'),
            field('POD_NAME', 'metadata.name'),
            field('POD_NAMESPACE', 'metadata.namespace'),
            ...values(apiServer(inventory)),
          ],
          startupProbe: { ...hasSubnet, failureThreshold: NETWORK_SECONDS / PROBE_SECONDS },
          readinessProbe: hasSubnet,
          volumeMounts: [{ name: 'flannel-cfg', mountPath: '/etc/kube-flannel/' }],
        },
      ],
      volumes: [
        { name: 'flannel-cfg', configMap: { name: 'kube-flannel-cfg' } },
        { name: 'scripts', configMap: { name: 'kube-flannel-windows' } },
      ],
    }),
  ];
}
