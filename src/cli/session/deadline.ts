import { DeadlinePassed } from '../../errors.ts';

/** The remedy of every run that was cut off. */
export const GO_ON = 'run the same command again to go on from here';

/** How long work that is under way when the deadline passes may take to end, in ms. */
export const GRACE_MS = 30_000;

/** What happens when a deadline passes. */
export interface DeadlineEnds {
  /** The deadline has passed: no other work begins. */
  readonly passed: (error: DeadlinePassed) => void;
  /** Work still runs `GRACE_MS` later: it is left as it is. */
  readonly over: (error: DeadlinePassed) => void;
}

const lasting = (ms: number): string => (ms % 60_000 === 0 ? `${String(ms / 60_000)} min` : `${String(ms / 1000)} s`);

/** Starts the deadline of a whole run, `timeoutMs` from now; `undefined`: none. Returns a function that cancels it. */
export function deadline(timeoutMs: number | undefined, { passed, over }: DeadlineEnds): () => void {
  if (timeoutMs === undefined) return () => undefined;
  const error = new DeadlinePassed(`the run did not end within ${lasting(timeoutMs)} (--timeout)`, {
    remedy: GO_ON,
  });
  const timers = [setTimeout(() => passed(error), timeoutMs), setTimeout(() => over(error), timeoutMs + GRACE_MS)];
  // A run that has ended does not wait for its deadline.
  for (const timer of timers) timer.unref();
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
