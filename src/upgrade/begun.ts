import {
  apiServerVersions,
  begunUpgrade,
  type BegunUpgrade,
  begunUpgrades,
  staticPodVersions,
} from '../cluster/api-versions.ts';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import { standing } from '../cluster/standing.ts';
import type { Phase, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { markerAway } from '../kubeadm/marker.facts.ts';
import { compareVersions, minorFacts, minorNumber, minorOf, versionIn } from '../versions.ts';
import type { Hop } from './hop.ts';
import { isOlder, KUBERNETES_PODS, oldPods } from './versions.ts';

/**
 * The versions to which an upgrade has begun: those that API servers run, that kubeadm has noted, and of its unfinished
 * upgrades. Empty while the cluster does not answer.
 */
export function begunVersions(inventory: Inventory, fleet: Fleet): readonly string[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  const all = [
    cluster.version,
    ...apiServerVersions(cluster).values(),
    ...begunUpgrades(inventory, fleet).map(({ version }) => version),
  ];
  return [...new Set(all)].filter((version) => version !== 'unknown');
}

/**
 * True for an upgrade that is no part of a run through these versions, and that kubeadm has not ended. An older kbuild
 * noted no version.
 */
const isAnother = ({ version, marker }: Pick<BegunUpgrade, 'version' | 'marker'>, hops: readonly string[]): boolean =>
  version !== 'unknown' && marker.stage !== 'done' && !hops.includes(version);

/**
 * What an upgrade to a version has changed on a control plane, as the cluster shows it; empty: nothing. kubeadm
 * replaces etcd first.
 */
function changedBy({ etcd }: Inventory, cluster: ClusterUp, { host, version }: BegunUpgrade): readonly string[] {
  const pods = KUBERNETES_PODS.flatMap((pod) => {
    const found = staticPodVersions(cluster, pod).get(host.name) ?? 'unknown';
    return found !== 'unknown' && isOlder(found, version) ? [] : [`${pod} ${found}`];
  });
  const noted =
    compareVersions(cluster.version, version) >= 0 ? [`the version that kubeadm noted, ${cluster.version}`] : [];
  if (etcd.topology !== 'stacked') return [...pods, ...noted];
  const before = versionIn(minorFacts(minorOf(cluster.version))?.images.etcd);
  const after = versionIn(minorFacts(minorOf(version))?.images.etcd);
  const member = staticPodVersions(cluster, 'etcd').get(host.name) ?? 'unknown';
  // The same etcd cannot have changed.
  const isSame = before !== undefined && before === after;
  const isChanged = !isSame && (after === undefined || member === 'unknown' || !isOlder(member, after));
  return [...(isChanged ? [`etcd ${member}`] : []), ...pods, ...noted];
}

/**
 * Why a run may not go through these versions while this upgrade is unfinished; undefined: it may, for that one has
 * changed nothing.
 */
function otherRefusal(
  inventory: Inventory,
  cluster: ClusterUp,
  begun: BegunUpgrade,
): Refused<'upgrade-unfinished'> | undefined {
  const changed = changedBy(inventory, cluster, begun);
  if (changed.length === 0) return undefined;
  return new Refused(
    'upgrade-unfinished',
    begun.host.name,
    `an upgrade to ${begun.version} was cut off here, and may have changed ${changed.join(', ')}`,
    `finish it first: set kubernetes.version to ${begun.version} and run \`kbuild upgrade\``,
  );
}

/**
 * Refuses a run through other versions than that of an unfinished upgrade which has changed something: it is finished
 * as it was begun.
 */
export const otherBegun = (
  inventory: Inventory,
  fleet: Fleet,
  cluster: ClusterUp,
  hops: readonly string[],
): readonly Refused<'upgrade-unfinished'>[] =>
  begunUpgrades(inventory, fleet)
    .filter((begun) => isAnother(begun, hops))
    .flatMap((begun) => otherRefusal(inventory, cluster, begun) ?? []);

/** True for a host on which kubeadm was cut off in this hop. An older kbuild noted no version. */
export function wasCutIn({ inventory, facts }: Pick<Target, 'inventory' | 'facts'>, { version }: Hop): boolean {
  const marker = begunUpgrade(inventory, facts);
  return marker !== undefined && (marker.about === undefined || marker.about === version);
}

/**
 * True for a host on which `kubeadm upgrade apply` of this hop has begun: it has phases that `kubeadm upgrade node`
 * does not have.
 */
export const appliesStill = (target: Pick<Target, 'inventory' | 'facts'>, hop: Hop): boolean =>
  wasCutIn(target, hop) && begunUpgrade(target.inventory, target.facts)?.how === 'apply';

/**
 * Takes back an upgrade to another version that has changed nothing on the host: its note goes, and the older kubeadm
 * comes back. Its diff throws Refused if the upgrade has changed something.
 */
export const upgradeTakenBack = (hops: readonly Hop[]): Step => ({
  name: 'upgrade-taken-back',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const marker = begunUpgrade(inventory, facts);
    if (marker === undefined || fleet.cluster.state !== 'up' || standing(target) !== 'joined') return [];
    const begun: BegunUpgrade = { host, marker, version: marker.about ?? 'unknown' };
    const versions = hops.map(({ version }) => version);
    if (!isAnother(begun, versions)) return [];
    const refused = otherRefusal(inventory, fleet.cluster, begun);
    if (refused !== undefined) throw refused;
    return [
      {
        summary: `take back the upgrade of ${host.name} to ${begun.version}, which has changed nothing there`,
        apply: async (on) => {
          await on(host).run(markerAway());
        },
      },
    ];
  },
});

/** True for the hosts, by their names, that a run upgrades. */
export type IsChosen = (name: string) => boolean;

/** The name of the phase that upgrades kubeadm's addons after a hop. */
export const addonsPhase = ({ version }: Pick<Hop, 'version'>): string => `addons-${minorOf(version)}`;

/** The control planes that a run leaves older than a version: it does not upgrade them. */
const leftOlder = (cluster: ClusterUp, version: string, isChosen: IsChosen): readonly string[] => {
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
        `${left.map((node) => `${node} would stay at ${versions.get(node) ?? 'unknown'}`).join(', ')} while ` +
          `${ahead.join(', ')} ${ahead.length === 1 ? 'gets' : 'get'} ${version}, and API servers may be one minor ` +
          'apart',
        'upgrade every control plane in one run, without --hosts; or one minor at a time: set kubernetes.version ' +
          `to ${hops[0]!}, upgrade all of them, then set it to ${kubernetes.version} again`,
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
    : `the addons of Kubernetes ${version!} are upgraded when every control plane has it: \`kbuild upgrade\` ` +
        `takes ${left.join(', ')}\n`;
}
