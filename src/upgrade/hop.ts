import type { Kind } from '../cluster/fleet/fleet.ts';
import { withInventory } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { merged } from '../inventory/merge.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { atVersion } from './at-version.value.ts';

/** One step of an upgrade: from one Kubernetes version to the next, at most one minor newer. Without `v`. */
export interface Hop {
  /** Missing where hosts come from different versions. */
  readonly from?: string;
  readonly version: string;
}

/** The hops from a running version through these versions. */
export const hopsThrough = (from: string, versions: readonly string[]): readonly Hop[] =>
  versions.map((version, at) => ({ from: versions[at - 1] ?? from, version }));

/** The step as it is for an inventory that names the version of this hop. */
export const atHop = <K extends Kind>({ version }: Hop, step: Step<K>): Step<K> =>
  withInventory(step, ({ inventory }) => atVersion(inventory, version));

/**
 * What is shown as found: an earlier hop brings it to the version from which this one starts. A hop without distance
 * comes alone.
 */
export const foundAt = ({ from, version }: Hop, found: string): string =>
  from === undefined || from === version || (/^\d/.test(found) && compareVersions(found, from) > 0) ? found : from;

/**
 * The oldest patch of etcd 3.6 whose members may be upgraded to 3.7 one by one (etcd's guide "Upgrade etcd from 3.6 to
 * 3.7").
 */
const ETCD_BEFORE_3_7 = '3.6.11';

/** The first minor whose kubeadm brings etcd 3.7 (kubeadm's constants.go). */
const FIRST_WITH_ETCD_3_7 = '1.37';

/** The etcd that every member must have before the hop; undefined if any will do. kubeadm checks nothing of it. */
export const etcdBefore = ({ version }: Hop): string | undefined =>
  compareVersions(minorOf(version), FIRST_WITH_ETCD_3_7) < 0 ? undefined : ETCD_BEFORE_3_7;

/** The inventory as if it named this image of etcd. */
export function withEtcdTag(inventory: Inventory, imageTag: string): Inventory {
  const cluster = merged(inventory.kubeadm.cluster, { etcd: { local: { imageTag } } });
  return { ...inventory, kubeadm: { ...inventory.kubeadm, cluster } };
}
