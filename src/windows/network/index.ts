import type { InventoryWith } from '../../components/network-plugins/network-plugin.ts';
import type { Step } from '../../engine/step.ts';
import type { Inventory, JsonObject } from '../../model/inventory.ts';
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
  /** What its steps do on a host that has joined. */
  readonly steps: readonly Step<'windows'>[];
  /** Its pods. */
  pods(inventory: InventoryWith<P>): readonly JsonObject[];
  /** The rights of its services and of kube-proxy's. */
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

/** Network of pods and Services for Windows hosts; undefined where there are none. */
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

/** Connects the pods of a Windows host that has joined. */
export const windowsHostNetwork = (inventory: Inventory): readonly Step<'windows'>[] => [
  ...(partOf(inventory)?.steps ?? []),
  metadataRoute,
  sourceVip,
  kubeProxyService,
];
