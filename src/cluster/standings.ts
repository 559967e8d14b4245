import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { LinuxFacts } from './fleet/linux.ts';
import type { WindowsFacts } from './fleet/windows.ts';

/**
 * How a host relates to the cluster of the inventory.
 * - `bare`: no Kubernetes; `prepared`: packages installed, kubeadm has not run
 * - `partial`: an unfinished init, join or reset of kbuild, on a host that did not serve before
 * - `joined`: a member of this cluster
 * - `foreign`: a member of another cluster, or leftovers of unknown origin
 */
export type Standing = 'bare' | 'prepared' | 'partial' | 'joined' | 'foreign';

/** The facts that decide a host's standing. Linux and Windows differ only in how programs are installed. */
type StandingFacts = Pick<
  LinuxFacts,
  'kubernetesTraces' | 'caFingerprint' | 'otherCas' | 'kubeconfigCluster' | 'marker'
> &
  (Pick<LinuxFacts, 'packages' | 'etcdToken' | 'etcdFolder' | 'servedBefore'> | Pick<WindowsFacts, 'programs'>);

/** A host with its facts, its fleet and the inventory. A step's `Target` is one. */
export interface Seen {
  readonly inventory: Inventory;
  readonly host: Host;
  readonly facts: StandingFacts;
  readonly fleet: Fleet;
}

/** The CAs that a host or a cluster trusts. There are several while the cluster CA is rotated. */
interface Trusting {
  readonly caFingerprint: string;
  readonly otherCas: readonly string[];
}

/** Fingerprints of the CAs that it trusts; empty if it has none. */
export const casOf = ({ caFingerprint, otherCas }: Trusting): readonly string[] =>
  caFingerprint === 'absent' ? [] : [caFingerprint, ...otherCas];

/**
 * True if two sets have a CA in common: then they are of one cluster. While a CA is rotated, a host may have the old
 * one alone, both, or the new one alone.
 */
export const shareCa = (some: Iterable<string>, others: Iterable<string>): boolean => {
  const known = new Set(others);
  return [...some].some((ca) => known.has(ca));
};

/** Joins sets that have a CA in common, until no two have: one set for each cluster, with those that it was made of. */
export function clustersOf<T extends { readonly cas: readonly string[] }>(
  all: readonly T[],
): readonly { readonly cas: readonly string[]; readonly members: readonly T[] }[] {
  return all.reduce<readonly { readonly cas: readonly string[]; readonly members: readonly T[] }[]>((clusters, one) => {
    const same = clusters.filter(({ cas }) => shareCa(cas, one.cas));
    const rest = clusters.filter((cluster) => !same.includes(cluster));
    const cas = [...new Set([...same.flatMap((cluster) => cluster.cas), ...one.cas])];
    return [...rest, { cas, members: [...same.flatMap(({ members }) => members), one] }];
  }, []);
}
