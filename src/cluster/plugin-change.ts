import { Refused } from '../errors.ts';
import { objectKey, type ClusterUp } from '../facts/cluster.ts';
import type { Inventory } from '../model/inventory.ts';

const FLANNEL = '/DaemonSet/kube-flannel/';

/** What Calico's operator is told. */
export const INSTALLATION = 'operator.tigera.io/v1/Installation//default';

/** The network plugin that kbuild gave a cluster, by the record of what it applied; the user's own manifests are not kbuild's. */
function pluginOf({ owned }: ClusterUp, { manifests }: Inventory): 'flannel' | 'calico' | undefined {
  if (owned.some((key) => key.includes(FLANNEL))) return 'flannel';
  const theirs = manifests.flatMap(({ objects }) => objects).some((object) => objectKey(object) === INSTALLATION);
  return owned.includes(INSTALLATION) && !theirs ? 'calico' : undefined;
}

/** A network plugin of kbuild's that would be taken from under all pods, for another one or for none. */
export function pluginChange(inventory: Inventory, cluster: ClusterUp): readonly Refused[] {
  const { plugin } = inventory.network;
  const made = pluginOf(cluster, inventory);
  if (made === undefined || made === plugin) return [];
  return [
    new Refused(
      inventory.name,
      `network.plugin is ${plugin}, the cluster was made with ${made}, and without it no pod of it has a network`,
      `set network.plugin back to ${made}, or build a new cluster`,
    ),
  ];
}
