import { networkPlugin } from '../../components/network-plugins/index.ts';
import type { Inventory } from '../../model/inventory.ts';

/** The HNS network that the network plugin creates on Windows hosts; empty: kbuild installs no network on them. */
export const hnsNetwork = (inventory: Inventory): string =>
  networkPlugin(inventory).windows?.hnsNetwork(inventory.network) ?? '';
