import type { InventoryWith } from '../../components/network-plugins/network-plugin.ts';
import type { Refused } from '../../errors.ts';
import type { Fleet } from '../../facts/fleet.ts';
import type { Inventory } from '../../model/inventory.ts';
import type { PluginName } from '../../model/network-plugins.ts';
import { calicoRefusals } from './calico.ts';
import { flannelRefusals } from './flannel.ts';

interface LiveNetwork<P extends PluginName = PluginName> {
  refusals(inventory: InventoryWith<P>, fleet: Fleet): readonly Refused[];
}

const PLUGINS: { readonly [P in PluginName]?: LiveNetwork<P> } = {
  flannel: { refusals: flannelRefusals },
  calico: { refusals: calicoRefusals },
};

/** Why `up` cannot change the network plugin of a live cluster to the desired settings. */
export function networkRefusals(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const plugin: LiveNetwork | undefined = PLUGINS[inventory.network.plugin];
  return plugin?.refusals(inventory, fleet) ?? [];
}
