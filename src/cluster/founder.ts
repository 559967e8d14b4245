import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { type Fleet, linuxFacts, observedLinux } from './fleet/fleet.ts';
import { standing } from './standing.ts';

/** The host that may run `kubeadm init`, or why no host may: `isUnobserved` if a control plane was not observed. */
type Founder = { readonly host: LinuxHost } | { readonly none: string; readonly isUnobserved?: true };

/**
 * The control plane that creates the cluster: the first of the inventory. There is none if a cluster exists, if a
 * control plane was not observed, or if one of them holds a cluster or foreign leftovers. Throws `FactError` when a
 * fact that it needs is unknown.
 */
export function founder(inventory: Inventory, fleet: Fleet): Founder {
  if (fleet.cluster.state !== 'absent' && !isUnfinished(inventory, fleet)) return { none: 'there is a cluster' };
  for (const host of controlPlanes(inventory)) {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined)
      return { none: `${host.name} was not observed, and may hold the cluster`, isUnobserved: true };
    const found = standing({ inventory, host, facts, fleet });
    if (found === 'joined' || found === 'foreign') return { none: `${host.name} holds a cluster (${found})` };
  }
  const [first] = controlPlanes(inventory);
  return first === undefined ? { none: 'the inventory has no control plane' } : { host: first };
}

/** True if the only cluster found is that of this inventory's unfinished init. */
const isUnfinished = (inventory: Inventory, fleet: Fleet): boolean =>
  observedLinux(fleet)
    .filter(({ host }) => host.role === 'control-plane')
    .some(({ host, facts }) => standing({ inventory, host, facts, fleet }) === 'partial') &&
  !observedLinux(fleet).some(({ host, facts }) => standing({ inventory, host, facts, fleet }) === 'joined');
