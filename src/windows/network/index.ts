import type { InventoryWith } from '../../components/network-plugins/network-plugin.ts';
import type { Step } from '../../engine/step.ts';
import type { Inventory } from '../../model/inventory.ts';
import type { JsonObject } from '../../shell/decode.ts';
import type { PluginName } from '../../model/network-plugins.ts';
import { manifest, type Manifest } from '../../resources/manifest.ts';
import { windowsCniFile } from './flannel/cni-file.ts';
import { nodeAccess } from './flannel/node-access.ts';
import { windowsFlannelObjects } from './flannel/pods.ts';
import { flannelConfig, flannelNetwork, flanneldService } from './flannel/service.ts';
import { windowsKubeProxyObjects } from './kube-proxy.ts';
import { kubeProxyService, sourceVip } from './kube-proxy-service.ts';
import { metadataRoute } from './metadata-route.ts';

/** A network plugin on Windows hosts. */
interface WindowsPart<P extends PluginName = PluginName> {
  /** Steps on a host that has joined. */
  readonly steps: readonly Step<'windows'>[];
  /** Objects of the plugin and its pods, if the network runs in pods. */
  pods(inventory: InventoryWith<P>): readonly JsonObject[];
  /** RBAC objects of the plugin and kube-proxy, if they are services. */
  access(inventory: InventoryWith<P>): readonly JsonObject[];
}

const PARTS: { readonly [P in PluginName]?: WindowsPart<P> } = {
  flannel: {
    steps: [windowsCniFile, flannelConfig, flanneldService, flannelNetwork],
    pods: windowsFlannelObjects,
    access: nodeAccess,
  },
};

const partOf = ({ network }: Inventory): WindowsPart | undefined => PARTS[network.plugin];

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
