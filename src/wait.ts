/** Waits so many ms; ends early, without an error, when the signal aborts. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

/** The real clock. A pause that is aborted keeps no timer. */
export const pause: Pause = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });

/** The longest pause that `isGentle` makes: a process that was frozen for an hour does not sleep for another. */
const GENTLE_MS = 5000;

/** Time, and how often something is observed. */
export interface Waiting {
  readonly pause: Pause;
  readonly nowMs: () => number;
  /** Milliseconds between two observations. */
  readonly everyMs: number;
  /**
   * Waits at least as long as the last observation took, 5 s at most: a busy machine is not kept busy by being
   * observed.
   */
  readonly isGentle?: true;
  /** Ends the wait, and the pause that it is in. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Observes a condition until it has a value, and returns that value; undefined when it has none at the deadline (a time
 * of `nowMs`). Observes at least once, unless the signal has aborted. @throws what the condition throws, and the reason
 * of `signal`
 */
export async function until<T>(
  condition: () => Promise<T | undefined>,
  deadlineMs: number,
  { pause, nowMs, everyMs, isGentle, signal }: Waiting,
): Promise<T | undefined> {
  for (;;) {
    signal?.throwIfAborted();
    const beganMs = nowMs();
    const value = await condition();
    const endedMs = nowMs();
    if (value !== undefined || endedMs >= deadlineMs) return value;
    await pause(isGentle === true ? Math.max(everyMs, Math.min(endedMs - beganMs, GENTLE_MS)) : everyMs, signal);
  }
}

/**
 * Does the work again while it fails with a retryable error. @throws its last error at the deadline, any other at once
 */
export async function retried<T>(
  work: () => Promise<T>,
  isRetryable: (error: unknown) => boolean,
  deadlineMs: number,
  waiting: Waiting,
): Promise<T> {
  const done = await until(
    async () => {
      try {
        return { value: await work() };
      } catch (error) {
        if (!isRetryable(error) || waiting.nowMs() >= deadlineMs) throw error;
        return undefined;
      }
    },
    Infinity,
    waiting,
  );
  return done!.value;
}
