import type { Convergence } from './converge.ts';
import type { PlannedChange } from './plan.ts';

/** Where something is waited for. */
export type Place = Pick<PlannedChange, 'phase' | 'host' | 'step'>;

/** What is still waited for is told again after this time, in ms. */
const TOLD_MS = 10_000;

/** Tells what is waited for: when that changes, and else every 10 s. */
export function teller({ emit, nowMs }: Convergence, place: Place): (summary: string) => void {
  const startedMs = nowMs();
  let said = '';
  let toldMs = 0;
  return (summary) => {
    if (summary === said && nowMs() - toldMs < TOLD_MS) return;
    said = summary;
    toldMs = nowMs();
    emit({ kind: 'settling', ...place, summary, waitedMs: toldMs - startedMs });
  };
}
