import type { Fleet } from '../facts/fleet.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { WindowsFacts } from '../facts/windows.ts';
import type { Host, Inventory } from '../model/inventory.ts';

/**
 * What a host is to the cluster of the inventory.
 * - `bare`: nothing of Kubernetes; `prepared`: the packages are there, kubeadm has not run
 * - `partial`: a half-finished init, join or reset of ours, on a host that did not serve before
 * - `joined`: a member of our cluster
 * - `foreign`: a member of another cluster, or leftovers of unknown origin
 */
export type Standing = 'bare' | 'prepared' | 'partial' | 'joined' | 'foreign';

/** What tells where a host stands: the same on Linux and Windows, but for how programs come to be there. */
export type StandingFacts = Pick<LinuxFacts, 'kubernetesTraces' | 'caFingerprint' | 'kubeconfigCluster' | 'marker'> &
  (Pick<LinuxFacts, 'packages' | 'etcdToken' | 'etcdFolder' | 'servedBefore'> | Pick<WindowsFacts, 'programs'>);

/** A host with what was seen on it and around it; a step's `Target` is one. */
export interface Seen {
  readonly inventory: Inventory;
  readonly host: Host;
  readonly facts: StandingFacts;
  readonly fleet: Fleet;
}
