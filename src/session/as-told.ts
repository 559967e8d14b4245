import { FactError, SeveralErrors } from '../errors.ts';
import { POLL_MS, UNTOLD_MS } from '../engine/step-on-host.ts';
import { retried } from '../wait.ts';
import { type Plannable, planNow, type Run, type RunPlan } from './run.ts';

/** The hosts that did not tell something. */
const untoldBy = (error: unknown): readonly string[] =>
  error instanceof SeveralErrors ? error.errors.flatMap(untoldBy) : error instanceof FactError ? [error.host] : [];

/** True if a busy host or a busy API did not tell something, and nothing else is wrong. */
export const isUntold = (error: unknown): boolean =>
  error instanceof FactError || (error instanceof SeveralErrors && error.errors.every(isUntold));

/**
 * Reads what the hosts were observed to be. What a busy host or a busy API did not tell is observed again, and read
 * again, so `read` must change nothing. `isCurrent: false`: all is observed once more before the first reading.
 * @throws FactError if something is still unknown after `UNTOLD_MS`; ChecksFailed, at once, if a check knows why a host
 * will never tell it; what `read` throws
 */
export function asTold<T>(
  run: Pick<Run, 'connected' | 'context' | 'inventory' | 'signal'>,
  read: () => T | Promise<T>,
  isCurrent = true,
): Promise<T> {
  const { connected, context, signal } = run;
  let mustObserve = !isCurrent;
  const observed = async (): Promise<T> => {
    if (mustObserve) await connected.observeAgain();
    mustObserve = true;
    try {
      return await read();
    } catch (error) {
      if (!isUntold(error)) throw error;
      // Most runs are told everything, and need no check.
      const { whyUntold } = await import('./preflight.ts');
      throw whyUntold(run, new Set(untoldBy(error))) ?? error;
    }
  };
  const waiting = { pause: context.sleep, nowMs: context.nowMs, everyMs: POLL_MS, isGentle: true as const, signal };
  return retried(observed, isUntold, context.nowMs() + UNTOLD_MS, waiting);
}

/**
 * The plan that the operator is asked about. What a busy host or a busy API did not tell is observed again: one late
 * answer ends no run.
 * @throws what the command or a step refuses; FactError for a fact that is still unknown after `UNTOLD_MS`
 */
export const firstPlan = (run: Run, work: Plannable): Promise<RunPlan> => asTold(run, () => planNow(run, work));
