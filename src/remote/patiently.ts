import { ConnectError } from '../errors.ts';
import type { Pause } from '../transport/pause.ts';

/** How long a host that lost the connection during a job is dialled again, in ms: the job goes on meanwhile. */
const RECONNECT_MS = 5 * 60_000;
const AGAIN_MS = 2000;

/** A connection that may come back. */
export const isRetryable = (error: unknown): boolean => error instanceof ConnectError && error.retryable;

/** Does what may be done twice until no connection is lost by it; `isLoss` tells which errors are one. @throws its last error after 5 min */
export async function patiently<T>(
  { pause, nowMs }: { readonly pause: Pause; readonly nowMs: () => number },
  act: () => Promise<T>,
  isLoss: (error: unknown) => boolean = isRetryable,
): Promise<T> {
  const untilMs = nowMs() + RECONNECT_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isLoss(error) || nowMs() > untilMs) throw error;
      await pause(AGAIN_MS);
    }
  }
}
