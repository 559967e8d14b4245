import { apiServerVersions } from '../cluster/api-versions.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import type { Phase } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { minorNumber, minorOf } from '../versions.ts';
import type { Hop } from './hop.ts';
import { isOlder, oldPods } from './versions.ts';

/** True for the hosts, by their names, that a run upgrades. */
export type IsChosen = (name: string) => boolean;

/** The name of the phase that upgrades kubeadm's addons after a hop. */
export const addonsPhase = ({ version }: Pick<Hop, 'version'>): string => `addons-${minorOf(version)}`;

/** The control planes that a run leaves older than a version: it does not upgrade them. */
export const leftOlder = (cluster: ClusterUp, version: string, isChosen: IsChosen): readonly string[] => {
  const versions = apiServerVersions(cluster);
  return controlPlaneNodes(cluster)
    .map(({ name }) => name)
    .filter((name) => !isChosen(name) && isOlder(versions.get(name), version));
};

/**
 * Refuses a run that would leave API servers more than one minor apart, because it takes some control planes over a
 * further minor alone (Kubernetes, "Version Skew Policy").
 */
export function apartAfterwards(
  { name, kubernetes }: Inventory,
  cluster: ClusterUp,
  hops: readonly string[],
  isChosen: IsChosen,
): readonly Refused<'minors-apart'>[] {
  const taken = (version: string): readonly string[] =>
    controlPlaneNodes(cluster)
      .map((node) => node.name)
      .filter((node) => isChosen(node) && oldPods(cluster, node, version).length > 0);
  const versions = apiServerVersions(cluster);
  for (const version of hops) {
    const left = leftOlder(cluster, version, isChosen).filter((node) => {
      const found = versions.get(node) ?? 'unknown';
      return found === 'unknown' || minorNumber(version) - minorNumber(found) > 1;
    });
    const ahead = taken(version);
    if (left.length === 0 || ahead.length === 0) continue;
    return [
      new Refused(
        'minors-apart',
        name,
        `${left.map((node) => `${node} would stay at ${versions.get(node) ?? 'unknown'}`).join(', ')} while ${ahead.join(', ')} ${ahead.length === 1 ? 'gets' : 'get'} ${version}, and API servers may be one minor apart`,
        `upgrade every control plane in one run, without --hosts; or one minor at a time: set kubernetes.version to ${hops[0]!}, upgrade all of them, then set it to ${kubernetes.version} again`,
      ),
    ];
  }
  return [];
}

/** The phases without addons that cannot be upgraded yet: kubeadm skips them while it sees an older API server. */
export const withoutEarlyAddons = (
  phases: readonly Phase[],
  cluster: ClusterUp,
  hops: readonly Hop[],
  isChosen: IsChosen,
): readonly Phase[] =>
  phases.filter(
    ({ name }) =>
      !hops.some((hop) => name === addonsPhase(hop) && leftOlder(cluster, hop.version, isChosen).length > 0),
  );

/** What the run says of addons that wait for control planes; empty if none do. */
export function laterAddonsText(cluster: ClusterUp, hops: readonly Hop[], isChosen: IsChosen): string {
  const version = hops.at(-1)?.version;
  const left = version === undefined ? [] : leftOlder(cluster, version, isChosen);
  return left.length === 0
    ? ''
    : `the addons of Kubernetes ${version!} are upgraded when every control plane has it: \`kbuild upgrade\` takes ${left.join(', ')}\n`;
}
