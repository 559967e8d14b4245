import type { Inventory } from '../../model/inventory.ts';
import { manifest, type Manifest } from '../../resources/manifest.ts';
import { windowsFlannelObjects } from './flannel.ts';
import { windowsKubeProxyObjects } from './kube-proxy.ts';
import { nodeAccess } from './node-access.ts';

/** Network of pods and Services for Windows hosts; undefined where there are none. */
export function windowsNetworkManifest(inventory: Inventory): Manifest | undefined {
  const { windows } = inventory.network;
  if (windows === undefined) return undefined;
  return {
    title: `the network of Windows hosts (${windows.mode}${windows.services ? ', as services' : ''})`,
    objects: windows.services
      ? nodeAccess(inventory)
      : [
          ...(windows.mode === 'calico' ? [] : windowsFlannelObjects(inventory, windows)),
          ...windowsKubeProxyObjects(inventory, windows),
        ],
    compare: 'fields',
  };
}

/** Network of Windows hosts in the cluster. */
export const windowsNetwork = manifest('windows-network', windowsNetworkManifest);
