import type { Inventory } from '../../inventory/inventory.ts';
import { windowsPaths } from '../../paths.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { podScript } from '../../templates.ts';
import { hnsNetwork } from './hns.step.ts';
import { field, hostProcessDaemon, powershellFile, SCRIPTS, values } from './host-pods.step.ts';

type Windows = NonNullable<Inventory['network']['windows']>;

const NAMESPACE = 'kube-system';
const SCRIPT = 'kube-proxy.ps1';

/** Label of kube-proxy's pods on Windows hosts. kubeadm's DaemonSet runs on Linux only. */
export const WINDOWS_KUBE_PROXY_LABEL = { name: 'k8s-app', value: 'kube-proxy-windows' } as const;

/**
 * Objects of kube-proxy on Windows hosts, in HostProcess pods. kbuild always passes the node's name. Without it
 * kube-proxy takes local endpoints for remote ones and deletes them.
 */
export function windowsKubeProxyObjects(inventory: Inventory, network: Windows): readonly JsonObject[] {
  const script = podScript(SCRIPT);
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kube-proxy-windows', namespace: NAMESPACE },
      data: { [SCRIPT]: script },
    },
    hostProcessDaemon({
      name: 'kube-proxy-windows',
      namespace: NAMESPACE,
      label: WINDOWS_KUBE_PROXY_LABEL,
      serviceAccount: 'kube-proxy',
      configuration: script,
      containers: [
        {
          name: 'kube-proxy',
          image: network.kubeProxyImage,
          command: powershellFile(SCRIPT),
          env: [
            field('NODE_NAME', 'spec.nodeName'),
            ...values({
              KUBE_NETWORK: hnsNetwork(inventory),
              NETWORK_MODE: network.mode,
              NETWORK_SECONDS: '300',
              POD_SUBNET: inventory.network.podSubnet,
              CNI_BIN: windowsPaths.cniBin,
              SOURCE_VIP: windowsPaths.sourceVip,
              KUBECONFIG_COPY: windowsPaths.kubeProxyKubeconfig,
            }),
          ],
          readinessProbe: { httpGet: { path: '/healthz', port: 10256 }, periodSeconds: 5 },
          volumeMounts: [
            { name: 'scripts', mountPath: SCRIPTS },
            // kubeadm's ConfigMap has the kubeconfig with the API endpoint; the script makes a copy with drives.
            { name: 'kube-proxy', mountPath: '/var/lib/kube-proxy' },
          ],
        },
      ],
      volumes: [
        { name: 'scripts', configMap: { name: 'kube-proxy-windows' } },
        { name: 'kube-proxy', configMap: { name: 'kube-proxy' } },
      ],
    }),
  ];
}
