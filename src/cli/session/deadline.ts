import { DeadlinePassed } from '../../errors.ts';

/** How long work that is under way when the deadline passes may take to end, in ms. */
export const GRACE_MS = 30_000;

/** What happens when a deadline passes. */
export interface DeadlineEnds {
  /** The deadline has passed: nothing else begins. */
  readonly passed: (error: DeadlinePassed) => void;
  /** Something still runs `GRACE_MS` later: it is left as it is. */
  readonly over: (error: DeadlinePassed) => void;
}

const lasting = (ms: number): string => (ms % 60_000 === 0 ? `${String(ms / 60_000)} min` : `${String(ms / 1000)} s`);

/** The deadline of a whole run, from now on; returns how to take it back. `undefined`: none. */
export function deadline(timeoutMs: number | undefined, { passed, over }: DeadlineEnds): () => void {
  if (timeoutMs === undefined) return () => undefined;
  const error = new DeadlinePassed(`the run did not end within ${lasting(timeoutMs)} (--timeout)`, {
    remedy: 'run the same command again to go on from here',
  });
  const timers = [setTimeout(() => passed(error), timeoutMs), setTimeout(() => over(error), timeoutMs + GRACE_MS)];
  // A run that has ended does not wait for its deadline.
  for (const timer of timers) timer.unref();
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
