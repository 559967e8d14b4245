import { networkPlugins } from '../components/network-plugins/index.ts';
import type { NetworkPlugin } from '../components/network-plugins/network-plugin.ts';
import { Refused } from '../errors.ts';
import { objectKey, type ClusterUp } from '../facts/cluster.ts';
import type { Inventory } from '../model/inventory.ts';

/**
 * The network plugin that kbuild installed in a cluster, by the record of applied objects. Objects of the user's
 * manifests are in that record too, and do not count.
 */
function installed({ owned }: ClusterUp, { manifests }: Inventory): NetworkPlugin | undefined {
  const users = new Set(manifests.flatMap(({ objects }) => objects).map(objectKey));
  const ours = new Set(owned.filter((key) => !users.has(key)));
  return networkPlugins.find(({ agent }) => agent !== undefined && ours.has(agent.object));
}

/** Refuses to replace or remove the network plugin that kbuild installed: all pods would lose their network. */
export function pluginChange(inventory: Inventory, cluster: ClusterUp): readonly Refused[] {
  const { plugin } = inventory.network;
  const found = installed(cluster, inventory)?.name;
  if (found === undefined || found === plugin) return [];
  return [
    new Refused(
      inventory.name,
      `network.plugin is ${plugin}, the cluster was made with ${found}, and without it no pod of it has a network`,
      `set network.plugin back to ${found}, or build a new cluster`,
    ),
  ];
}
