import { POLL_MS, UNTOLD_MS } from '../../engine/step-on-host.ts';
import { FactError, SeveralErrors } from '../../errors.ts';
import { retried } from '../../until.ts';
import type { Run } from './run.ts';

/** True if a busy host or a busy API did not tell something, and nothing else is wrong. */
const isUntold = (error: unknown): boolean =>
  error instanceof FactError || (error instanceof SeveralErrors && error.errors.every(isUntold));

/**
 * Reads what the hosts were observed to be. What a busy host or a busy API did not tell is observed again, and read again, so `read` must change
 * nothing. `isCurrent: false`: all is observed once more before the first reading.
 * @throws FactError if something is still unknown after `UNTOLD_MS`; what `read` throws
 */
export function asTold<T>(
  { connected, context, signal }: Pick<Run, 'connected' | 'context' | 'signal'>,
  read: () => T | Promise<T>,
  isCurrent = true,
): Promise<T> {
  let mustObserve = !isCurrent;
  const observed = async (): Promise<T> => {
    if (mustObserve) await connected.observeAgain();
    mustObserve = true;
    return read();
  };
  const waiting = { pause: context.sleep, nowMs: context.nowMs, everyMs: POLL_MS, isGentle: true as const, signal };
  return retried(observed, isUntold, context.nowMs() + UNTOLD_MS, waiting);
}
