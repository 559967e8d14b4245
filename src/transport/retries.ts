import { ConnectError } from '../errors.ts';
import { isTurnedAway, type Failure } from './connect-error.ts';
import type { Pause } from '../until.ts';

/** How to dial again. */
interface RetryOptions {
  /** Gives up dialling. */
  readonly signal?: AbortSignal;
  readonly pause: Pause;
  /** 0 ≤ x < 1, for the jitter. */
  readonly random?: () => number;
  /** Default 3. */
  readonly retries?: number;
}

const RETRIES = 3;
/** A busy sshd (MaxStartups) turns connections away and accepts them later: half a minute in all, for a fleet behind one bastion. */
const RETRIES_TURNED_AWAY = 16;
const LONGEST_PAUSE_MS = 2000;

/** Retries while the error is retryable: with jitter, so that a fleet does not come back at once. */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const random = options.random ?? Math.random;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const retries = error instanceof ConnectError && error.retryable ? retriesAfter(error, options) : 0;
      if (tries >= retries || options.signal?.aborted === true) throw error;
      await options.pause(Math.min(250 * 2 ** tries, LONGEST_PAUSE_MS) * (0.5 + random()), options.signal);
    }
  }
}

/**
 * Within the time limit the kernel has tried a silent host several times: a retry would only delay the error. A host that took
 * the connection and was slow then has a second chance.
 */
function retriesAfter({ cause }: ConnectError, { retries = RETRIES }: RetryOptions): number {
  if (!(cause instanceof Error)) return retries;
  const failure: Failure = cause;
  if (isTurnedAway(failure)) return Math.max(retries, RETRIES_TURNED_AWAY);
  if (failure.level !== 'client-timeout') return retries;
  return failure.answered === true ? 1 : 0;
}
