import { networkPlugin } from '../../components/network-plugins/index.ts';
import type { Inventory } from '../../model/inventory.ts';

/** Name of the HNS network that the network plugin creates on Windows hosts; empty if kbuild installs no network on them. */
export const hnsNetwork = (inventory: Inventory): string =>
  networkPlugin(inventory).windows?.hnsNetwork(inventory.network) ?? '';
