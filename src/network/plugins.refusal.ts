import type { Fleet } from '../cluster/fleet/fleet.ts';
import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { PluginName, SettingsOf } from '../inventory/network-plugins.ts';
import { ofCluster, within } from '../shell/decode.ts';
import { calicoRefusals } from './calico.refusal.ts';
import { ciliumRefusals } from './cilium.refusal.ts';
import { usesCilium } from './cilium.value.ts';
import { flannelRefusals } from './flannel.refusal.ts';
import { CONFIG_ANNOTATION, type InventoryWith, type NetworkPlugin } from './plugin.value.ts';
import { networkPlugins } from './plugins.value.ts';

interface LiveNetwork<P extends PluginName = PluginName> {
  refusals(inventory: InventoryWith<P>, fleet: Fleet): readonly Refused<'windows-network'>[];
}

/**
 * Network plugins that can run on Windows hosts: on these alone a setting needs another network than Linux hosts have.
 */
type OnWindows = { [P in PluginName]: SettingsOf<P>['windows'] extends undefined ? never : P }[PluginName];

const PLUGINS: { readonly [P in OnWindows]: LiveNetwork<P> } = {
  flannel: { refusals: flannelRefusals },
  calico: { refusals: calicoRefusals },
};

/** Why `up` cannot change the network plugin of a live cluster to the desired settings. */
export function networkRefusals(inventory: Inventory, fleet: Fleet): readonly Refused<'windows-network'>[] {
  const plugin = (PLUGINS as Readonly<Partial<Record<PluginName, LiveNetwork>>>)[inventory.network.plugin];
  return plugin?.refusals(inventory, fleet) ?? [];
}

/** True for a live DaemonSet of kbuild's own manifests. */
const isOfKbuild = (cluster: ClusterUp, key: string): boolean =>
  ofCluster(
    cluster,
    key,
    () => CONFIG_ANNOTATION in within(cluster.objects.get(key), 'spec', 'template', 'metadata', 'annotations'),
  );

/**
 * The network plugin that kbuild installed in a cluster, by the record of applied objects. That record also has the
 * objects of the user's manifests: they count only if the live object is still kbuild's own.
 */
function installed(cluster: ClusterUp, { manifests }: Inventory): NetworkPlugin | undefined {
  const users = new Set(manifests.flatMap((each) => each.objects).map(objectKey));
  // The live objects may be unknown: they are read only where a key is in both lists.
  const ours = new Set(cluster.owned.filter((key) => !users.has(key) || isOfKbuild(cluster, key)));
  return networkPlugins.find(({ agent }) => agent !== undefined && ours.has(agent.object));
}

/**
 * Refuses to replace or remove the network plugin that kbuild installed: all pods would lose their network. Refuses too
 * what Cilium cannot change.
 */
export function pluginChange(inventory: Inventory, cluster: ClusterUp): readonly Refused<'network-plugin-changed'>[] {
  const { plugin } = inventory.network;
  const found = installed(cluster, inventory)?.name;
  if (found === 'cilium' && usesCilium(inventory)) return ciliumRefusals(inventory, cluster);
  if (found === undefined || found === plugin) return [];
  return [
    new Refused(
      'network-plugin-changed',
      inventory.name,
      `network.plugin is ${plugin}, the cluster was made with ${found}, and without it no pod of it has a network`,
      `set network.plugin back to ${found}, or build a new cluster`,
    ),
  ];
}
