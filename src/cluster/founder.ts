import { linuxFacts, observedLinux, type Fleet } from '../facts/fleet.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { controlPlanes } from '../topology/select.ts';
import { standing } from './standing.ts';

/** Who may run `kubeadm init`, or why nobody may. */
export type Founder = { readonly host: LinuxHost } | { readonly none: string };

/**
 * The control plane that founds the cluster: the first of the inventory, and only when there is no cluster, every
 * control plane was observed, and none of them holds a cluster or leftovers that are not ours. Throws `FactError` when a
 * fact that it needs is not known.
 */
export function founder(inventory: Inventory, fleet: Fleet): Founder {
  if (fleet.cluster.state !== 'absent' && !isUnfinished(inventory, fleet)) return { none: 'there is a cluster' };
  for (const host of controlPlanes(inventory)) {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined) return { none: `${host.name} was not observed, and may hold the cluster` };
    const its = standing({ inventory, host, facts, fleet });
    if (its === 'joined' || its === 'foreign') return { none: `${host.name} holds a cluster (${its})` };
  }
  const [first] = controlPlanes(inventory);
  return first === undefined ? { none: 'the inventory has no control plane' } : { host: first };
}

/** True when the only cluster that shows is what an unfinished init of ours left. */
const isUnfinished = (inventory: Inventory, fleet: Fleet): boolean =>
  observedLinux(fleet)
    .filter(({ host }) => host.role === 'control-plane')
    .some(({ host, facts }) => standing({ inventory, host, facts, fleet }) === 'partial') &&
  !observedLinux(fleet).some(({ host, facts }) => standing({ inventory, host, facts, fleet }) === 'joined');
