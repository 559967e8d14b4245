import type { Fleet } from '../facts/fleet.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { WindowsFacts } from '../facts/windows.ts';
import type { Host, Inventory } from '../model/inventory.ts';

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
