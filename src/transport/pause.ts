/** Waits; ends early, without an error, when the signal aborts. */
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
