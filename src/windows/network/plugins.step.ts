import { manifest, type Manifest } from '../../engine/objects.ts';
import type { Step } from '../../engine/step.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import type { PluginName } from '../../inventory/network-plugins.ts';
import type { InventoryWith } from '../../network/plugin.value.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { nodeAccess, windowsFlannelObjects } from './flannel-pods.step.ts';
import { flannelConfig, flanneldService, flannelNetwork, windowsCniFile } from './flannel-service.step.ts';
import { metadataRoute } from './hns.step.ts';
import { kubeProxyService, sourceVip, windowsKubeProxyObjects } from './kube-proxy.step.ts';

/** A network plugin on Windows hosts. */
interface WindowsPart<P extends PluginName = PluginName> {
  /** Steps on a host that has joined. */
  readonly steps: readonly Step<'windows'>[];
  /** Objects of the plugin and its pods, if the network runs in pods. */
  pods(inventory: InventoryWith<P>): readonly JsonObject[];
  /** RBAC objects of the plugin and kube-proxy, if they are services. */
  access(inventory: InventoryWith<P>): readonly JsonObject[];
}

/** Partial: the network of Windows hosts may come from the plugin's own operator, or from nothing. */
const WINDOWS_PARTS: { readonly [P in PluginName]?: WindowsPart<P> } = {
  flannel: {
    steps: [windowsCniFile, flannelConfig, flanneldService, flannelNetwork],
    pods: windowsFlannelObjects,
    access: nodeAccess,
  },
};

const partOf = ({ network }: Inventory): WindowsPart | undefined => WINDOWS_PARTS[network.plugin];

/** Objects of the pod network and kube-proxy for Windows hosts; undefined if kbuild installs no network on them. */
export function windowsNetworkManifest(inventory: Inventory): Manifest | undefined {
  const { windows } = inventory.network;
  if (windows === undefined) return undefined;
  const part = partOf(inventory);
  return {
    title: `the network of Windows hosts (${windows.mode}${windows.services ? ', as services' : ''})`,
    objects: windows.services
      ? (part?.access(inventory) ?? [])
      : [...(part?.pods(inventory) ?? []), ...windowsKubeProxyObjects(inventory, windows)],
    compare: 'fields',
  };
}

/** Applies the network of Windows hosts to the cluster. */
export const windowsNetwork = manifest('windows-network', windowsNetworkManifest);

/** Steps that connect the pods of a Windows host that has joined. */
export const windowsHostNetwork = (inventory: Inventory): readonly Step<'windows'>[] => [
  ...(partOf(inventory)?.steps ?? []),
  metadataRoute,
  sourceVip,
  kubeProxyService,
];
