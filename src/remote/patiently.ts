import { ConnectError } from '../errors.ts';
import { retried, type Waiting } from '../until.ts';

/** How long a host that lost the connection during a job is dialled again, in ms: the job goes on meanwhile. */
const RECONNECT_MS = 5 * 60_000;
const AGAIN_MS = 2000;

/** True when another connection may succeed. */
export const isRetryable = (error: unknown): boolean => error instanceof ConnectError && error.retryable;

/** Repeats idempotent work while it fails with an error that `isLoss` accepts. @throws its last error after 5 min */
export const patiently = <T>(
  { pause, nowMs }: Pick<Waiting, 'pause' | 'nowMs'>,
  work: () => Promise<T>,
  isLoss: (error: unknown) => boolean = isRetryable,
): Promise<T> => retried(work, isLoss, nowMs() + RECONNECT_MS, { pause, nowMs, everyMs: AGAIN_MS });
