import { runsOnWindows, where } from '../../engine/combinators.ts';
import type { Step, Target } from '../../engine/step.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { networkPlugin } from '../../network/plugins.value.ts';
import { windowsPaths } from '../../paths.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { podScript, powershell } from '../../templates.ts';
import { proxyEnvironment } from '../environment.step.ts';
import { NSSM, nssmParameters, type WantedWindowsService, windowsServiceChanges } from '../service.step.ts';
import { hnsNetwork, isService } from './hns.step.ts';
import { field, hostProcessDaemon, powershellFile, SCRIPTS, values } from './host-pods.step.ts';

/** The source address that was reserved in the node's current pod subnet; undefined if none is. */
function reservedAddress({ inventory, facts }: Target<'windows'>): string | undefined {
  const network = facts.hns.networks.find(({ name }) => name === hnsNetwork(inventory));
  if (facts.sourceVip === 'absent' || facts.sourceVip.subnet !== network?.subnet) return undefined;
  return facts.sourceVip.address;
}

/**
 * Reserves an address of the node's pod subnet for kube-proxy, so that no pod gets it. Only overlay networks need one.
 */
export const sourceVip: Step<'windows'> = {
  name: 'source-vip',
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (!isService(target) || inventory.network.windows?.mode !== 'overlay' || reservedAddress(target) !== undefined)
      return [];
    const found = facts.sourceVip === 'absent' ? 'none' : `one of ${facts.sourceVip.subnet}`;
    return [
      {
        summary: `reserve an address for kube-proxy in ${hnsNetwork(inventory)} (found ${found})`,
        apply: runsOnWindows(
          host,
          powershell('windows/reserve-source-vip.ps1', {
            Name: hnsNetwork(inventory),
            Plugins: windowsPaths.cniBin,
            Path: windowsPaths.sourceVipFile,
          }),
        ),
      },
    ];
  },
};

/** The service of kube-proxy. */
export function kubeProxyServiceOf(target: Target<'windows'>): WantedWindowsService {
  const { inventory, host } = target;
  const vip = reservedAddress(target);
  const flags = [
    '--proxy-mode=kernelspace',
    `--kubeconfig=${windowsPaths.kubeletConf}`,
    `--hostname-override=${host.name}`,
    `--cluster-cidr=${inventory.network.podSubnet}`,
    `--network-name=${hnsNetwork(inventory)}`,
    '--enable-dsr=true',
    ...(vip === undefined ? [] : [`--source-vip=${vip}`]),
    '--v=2',
  ];
  return {
    name: 'kube-proxy',
    displayName: 'kube-proxy',
    path: NSSM,
    dependsOn: networkPlugin(inventory).windows?.services ?? [],
    environment: proxyEnvironment(inventory),
    parameters: nssmParameters(
      `${windowsPaths.programs}\\kube-proxy.exe`,
      flags,
      `${windowsPaths.kubeProxyLog}\\kube-proxy.log`,
    ),
    wanted: 'running',
    uses: [],
  };
}

/**
 * Runs kube-proxy as a service. kbuild always passes the node's name. Without it kube-proxy takes local endpoints for
 * remote ones and deletes them. When kube-proxy starts, it removes its own old rules.
 */
export const kubeProxyService: Step<'windows'> = where(isService, {
  name: 'kube-proxy-service',
  watches: { units: ['kube-proxy'] },
  settleMs: 60_000,
  diff: (target) => windowsServiceChanges(target, kubeProxyServiceOf(target)),
});

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
