import type { Inventory } from '../../model/inventory.ts';

/** The HNS network that the network plugin makes on Windows hosts. */
export function hnsNetwork({ network: { plugin, flannel } }: Inventory): string {
  if (plugin === 'calico') return 'Calico';
  return flannel.backend === 'vxlan' ? `flannel.${String(flannel.vni)}` : 'cbr0';
}
