import type { Host, Inventory } from '../model/inventory.ts';
import { limiter } from '../each-limit.ts';
import { atOnceOf } from '../topology/select.ts';
import type { Convergence } from './convergence.ts';
import type { Disrupted } from './health.ts';
import { workerBatches, type WorkerBatches } from './worker-batches.ts';

/** The order in which hosts are disrupted. */
export interface Turns extends Disrupted {
  /** Runs a disruptive change and its verification when it is its host's turn. */
  readonly take: <R>(host: Host, work: () => Promise<R>) => Promise<R>;
  /** The workers that are disrupted together. */
  readonly batches: WorkerBatches;
}

/** How many workers may be without their runtime or kubelet at once. */
export const workersAtOnce = (inventory: Inventory): number =>
  atOnceOf(
    inventory,
    inventory.hosts.filter(({ role }) => role === 'worker'),
  );

/** One host that is not a worker at a time, and at most so many workers as the run says (default: `rollout.maxUnavailable` of the inventory). */
export function turns(run: Convergence): Turns {
  const atOnce = run.workersAtOnce ?? workersAtOnce(run.inventory);
  const ofWorkers = limiter(atOnce);
  const ofOthers = limiter(1);
  const broken = new Set<string>();
  return {
    take: (host, work) => (host.role === 'worker' ? ofWorkers : ofOthers).run(work),
    broken,
    batches: workerBatches(run, atOnce, broken),
  };
}
