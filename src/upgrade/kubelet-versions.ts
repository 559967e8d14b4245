import { lowestApiServer } from '../cluster/api-versions.ts';
import { Refused } from '../errors.ts';
import type { ClusterUp, NodeView } from '../facts/cluster.ts';
import type { Inventory } from '../model/inventory.ts';
import { compareVersions, KUBELET_MINORS_BEHIND, minorNumber, releaseOf } from '../versions.ts';

/** The version of a node's running kubelet, without `v` and suffixes. */
const kubeletVersion = ({ kubeletVersion: version }: NodeView): string => releaseOf(version);

/** The version of the oldest running kubelet; undefined if the cluster has no node. */
export const lowestKubelet = ({ nodes }: ClusterUp): string | undefined =>
  nodes.map(kubeletVersion).toSorted(compareVersions)[0];

/**
 * Refuses hops that are more than three minors newer than a kubelet that runs then. The kubelets can be upgraded before them. `movesAlong`: true
 * for a control plane of this run, whose kubelet follows in each hop; a worker's follows after the last one.
 */
export function oldKubelets(
  inventory: Inventory,
  cluster: ClusterUp,
  hops: readonly string[],
  movesAlong: (node: NodeView) => boolean,
): readonly Refused[] {
  const firstWithout = (node: NodeView): string | undefined =>
    (movesAlong(node) ? hops.slice(0, 1) : hops).find(
      (hop) => minorNumber(hop) - minorNumber(kubeletVersion(node)) > KUBELET_MINORS_BEHIND,
    );
  const old = cluster.nodes.filter((node) => firstWithout(node) !== undefined);
  const hop = hops.find((one) => old.some((node) => firstWithout(node) === one));
  if (hop === undefined) return [];
  const names = old.map(({ name }) => name).join(',');
  const only = old.every(({ role }) => role === 'worker') ? ' --workers-only' : '';
  const lowest = lowestApiServer(cluster);
  return [
    new Refused(
      inventory.name,
      `API servers of ${hop} do not work with kubelets that are more than ${String(KUBELET_MINORS_BEHIND)} minors older: ${old.map((node) => `${node.name} runs ${kubeletVersion(node)}`).join(', ')}`,
      `upgrade these kubelets first: set kubernetes.version to ${lowest}, run \`kbuild upgrade${only} --hosts ${names}\`, then set kubernetes.version to ${inventory.kubernetes.version} again`,
    ),
  ];
}
