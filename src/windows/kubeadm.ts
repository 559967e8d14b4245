import { windowsTaints } from '../inventory/hosts.ts';
import type { Argument, Inventory, WindowsHost } from '../inventory/inventory.ts';
import { beyond, merged, mergedArguments } from '../inventory/merge.ts';
import type { JoinCredentials } from '../kubeadm/config.ts';
import { KUBELET_CONFIG, sharedKubeletConfig } from '../kubeadm/kubelet-config.ts';
import { ignoredErrors } from '../kubeadm/upgrade-job.ts';
import { windowsServices } from '../network/plugins.value.ts';
import { windowsPaths } from '../paths.ts';
import type { JsonObject } from '../shell/decode.ts';
import type { Secret } from '../shell/secret.ts';
import { toYaml } from '../shell/yaml.ts';
import type { Remote } from '../ssh/remote.ts';
import { powershell } from '../templates.ts';

/** containerd's pipe as kubeadm and crictl name it. */
export const WINDOWS_CRI_SOCKET = 'npipe:////./pipe/containerd-containerd';

/** The kubelet's arguments on a Windows host, which kubeadm writes to its flags file; the inventory's own come last. */
export function windowsKubeletArguments({ name, internalAddress, kubelet, windows }: WindowsHost): readonly Argument[] {
  return mergedArguments(
    [
      { name: 'node-ip', value: internalAddress },
      { name: 'hostname-override', value: name },
      { name: 'system-reserved', value: `memory=${windows.reserved.system}` },
      { name: 'kube-reserved', value: `memory=${windows.reserved.kube}` },
    ],
    kubelet.extraArgs,
  );
}

const OWN_PATCH = 'kubeletconfigurationzz-kbuild+merge.yaml';

/** The kubelet configuration of a Windows host that differs from the cluster's. */
export const windowsOwnKubeletConfig = (inventory: Inventory, host: WindowsHost): JsonObject =>
  beyond(host.kubelet.config, sharedKubeletConfig(inventory));

/**
 * Patch files for kubeadm on a Windows host (name → content): the kubelet configuration that differs from the
 * cluster's.
 */
export function windowsPatches(inventory: Inventory, host: WindowsHost): Readonly<Record<string, string>> {
  const own = windowsOwnKubeletConfig(inventory, host);
  if (Object.keys(own).length === 0) return inventory.kubeadm.patches;
  return { ...inventory.kubeadm.patches, [OWN_PATCH]: toYaml([{ ...KUBELET_CONFIG, ...own }]) };
}

/** kubeadm's JoinConfiguration for a Windows worker. */
export const windowsJoinConfiguration = (
  inventory: Inventory,
  host: WindowsHost,
  { token, caHash }: Omit<JoinCredentials, 'certificateKey'>,
): JsonObject =>
  merged(
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'JoinConfiguration',
      nodeRegistration: {
        name: host.name,
        criSocket: WINDOWS_CRI_SOCKET,
        taints: windowsTaints(host),
        kubeletExtraArgs: windowsKubeletArguments(host),
      },
      discovery: {
        bootstrapToken: { token, apiServerEndpoint: inventory.endpoint, caCertHashes: [caHash] },
      },
      ...(Object.keys(windowsPatches(inventory, host)).length === 0
        ? {}
        : { patches: { directory: windowsPaths.kubeadmPatches } }),
    },
    inventory.kubeadm.join,
  );

/** kubeadm's ResetConfiguration for a Windows worker. */
export const windowsResetConfiguration = (inventory: Inventory): JsonObject =>
  merged(
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ResetConfiguration',
      criSocket: WINDOWS_CRI_SOCKET,
      force: true,
      timeouts: { kubernetesAPICall: '10s' },
    },
    inventory.kubeadm.reset,
  );

/**
 * kubeadm's UpgradeConfiguration for a Windows worker. It names the patches, because kubeadm does not remember them.
 */
export const windowsUpgradeConfiguration = (inventory: Inventory, host: WindowsHost): JsonObject => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'UpgradeConfiguration',
  node: {
    ignorePreflightErrors: ignoredErrors(inventory),
    ...(Object.keys(windowsPatches(inventory, host)).length === 0
      ? {}
      : { patches: { directory: windowsPaths.kubeadmPatches } }),
  },
});

/** Folders that kubeadm's reset leaves on Windows. The drive's own folders stay. */
const REMNANTS = [windowsPaths.kubernetes, windowsPaths.kubelet];

/**
 * Runs kubeadm's join, reset or `upgrade node` on a Windows host. kbuild runs kubeadm only through this job, which
 * outlives the connection. Its script writes the marker first and removes it after success. @throws CommandError if
 * kubeadm fails.
 */
export async function windowsKubeadmJob(
  remote: Remote<'powershell'>,
  inventory: Inventory,
  action: 'join' | 'reset' | 'upgrade',
  config: Secret,
): Promise<void> {
  const { proxy, name } = inventory;
  const variables =
    proxy === undefined ? {} : { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy.join(',') };
  const command = powershell('windows/kubeadm.ps1', {
    Action: action,
    Program: `${windowsPaths.programs}\\kubeadm.exe`,
    Cluster: name,
    Marker: windowsPaths.marker,
    Services: ['kubelet', 'kube-proxy', ...windowsServices],
    Paths: REMNANTS,
    Variables: Object.entries(variables).flatMap(([variable, value]) =>
      value === undefined ? [] : [{ name: variable, value }],
    ),
  });
  await remote.job(`kubeadm-${action}`, { ...command, title: `kubeadm ${action}` }, { 'config.yaml': config });
}
