import type { Host, Inventory } from '../inventory/inventory.ts';
import { limiter } from '../each-limit.ts';

/** The part of the workers that may be without their runtime or kubelet at once. */
const WORKERS_AT_ONCE = 0.1;

/** Runs a disruptive change and its verification when it is its host's turn. */
export type Turn = <R>(host: Host, work: () => Promise<R>) => Promise<R>;

/** One host that is not a worker at a time, and at most 10 % of the workers (at least one). */
export function turns({ hosts }: Inventory): Turn {
  const workers = hosts.filter(({ role }) => role === 'worker').length;
  const ofWorkers = limiter(Math.max(1, Math.floor(workers * WORKERS_AT_ONCE)));
  const ofOthers = limiter(1);
  return (host, work) => (host.role === 'worker' ? ofWorkers : ofOthers).run(work);
}
