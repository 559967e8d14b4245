import type { Host, Inventory } from '../model/inventory.ts';
import { limiter } from '../each-limit.ts';
import { atOnceOf } from '../topology/select.ts';

/** The order in which hosts are disrupted. */
export interface Turns {
  /** Runs a disruptive change and its verification when it is its host's turn. */
  readonly take: <R>(host: Host, work: () => Promise<R>) => Promise<R>;
  /** Names of hosts that were not healthy after their turn: the same change must not break the next hosts. */
  readonly broken: Set<string>;
}

/** How many workers may be without their runtime or kubelet at once. */
export const workersAtOnce = (inventory: Inventory): number =>
  atOnceOf(
    inventory,
    inventory.hosts.filter(({ role }) => role === 'worker'),
  );

/** One host that is not a worker at a time, and at most `atOnce` workers (default: `rollout.maxUnavailable` of the inventory). */
export function turns(inventory: Inventory, atOnce = workersAtOnce(inventory)): Turns {
  const ofWorkers = limiter(atOnce);
  const ofOthers = limiter(1);
  return { take: (host, work) => (host.role === 'worker' ? ofWorkers : ofOthers).run(work), broken: new Set() };
}
