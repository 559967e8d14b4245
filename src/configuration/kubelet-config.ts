import { containerRuntime, type ContainerRuntime } from '../components/runtimes/index.ts';
import { inventoryOn } from '../model/inventory-on.ts';
import { merged } from '../model/merge.ts';
import { linuxNodes } from '../topology/select.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';
import { onceForEach } from '../shell/once-for-each.ts';
import { beyond, common } from './compare.ts';
import { dnsPatch } from './dns.ts';
import { toYaml } from './secret-yaml.ts';

/** Arguments that kubeadm itself adds to its flags file. All others in that file came from an inventory. */
export const KUBEADMS_OWN_FLAGS =
  /^--(register-with-taints|hostname-override|container-runtime-endpoint|pod-infra-container-image)=/;

export const KUBELET_CONFIG = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' } as const;

const runtimeOn = (inventory: Inventory, host: LinuxHost): ContainerRuntime =>
  containerRuntime(inventoryOn(inventory, host));

/** The desired kubelet configuration of a host: kbuild's own settings, those that its runtime needs, and the host's merged ones. */
function hostKubeletConfig(inventory: Inventory, host: LinuxHost, runtime = runtimeOn(inventory, host)): JsonObject {
  return {
    ...merged(runtime.kubeletConfig?.(inventory.kubernetes.minor) ?? {}, host.kubelet.config),
    cgroupDriver: inventory.runtime.cgroupDriver,
  };
}

/**
 * The cluster's KubeletConfiguration. kubeadm keeps one for all nodes (ConfigMap kubelet-config), so it holds what all
 * Linux nodes of the inventory share. The rest of a host is its patch.
 */
export const sharedKubeletConfig = onceForEach((inventory: Inventory): JsonObject => ({
  ...KUBELET_CONFIG,
  ...common(linuxNodes(inventory).map((host) => hostKubeletConfig(inventory, host))),
}));

/** The kubelet configuration of a host that differs from the cluster's; empty for most hosts. `runtime`: see `hostPatches`. */
export const ownKubeletConfig = (inventory: Inventory, host: LinuxHost, runtime?: ContainerRuntime): JsonObject =>
  beyond(hostKubeletConfig(inventory, host, runtime), sharedKubeletConfig(inventory));

/** Sorts after `kubeletconfiguration0…9`, so that the host's own settings win over patch files of the inventory. */
const OWN_PATCH = 'kubeletconfigurationzz-kbuild+merge.yaml';

/**
 * The patch files of a host (name → content) in kubeadm's patches directory: the inventory's, the host's own kubelet
 * settings, and on control planes that of `dns`. kubeadm's init, join and upgrade apply them to what they write on this host.
 * `runtime`: the one that runs its pods, where that is not yet the inventory's.
 */
export function hostPatches(
  inventory: Inventory,
  host: LinuxHost,
  runtime?: ContainerRuntime,
): Readonly<Record<string, string>> {
  const own = ownKubeletConfig(inventory, host, runtime);
  const shared =
    host.role === 'control-plane'
      ? { ...inventory.kubeadm.patches, ...dnsPatch(inventory) }
      : inventory.kubeadm.patches;
  if (Object.keys(own).length === 0) return shared;
  return { ...shared, [OWN_PATCH]: toYaml([{ ...KUBELET_CONFIG, ...own }]) };
}
