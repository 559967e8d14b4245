import { holdLease } from '../../engine/lease.ts';
import { lockHosts, type Lock } from '../../engine/lock.ts';
import { apiHost } from './api-host.ts';
import { holder, isGone } from './holder.ts';
import type { Run } from './run.ts';

/** Calls `work` while this run holds the locks of all its hosts. @throws Refused while another run holds one */
export async function withHostLocks<T>(run: Run, command: string, work: (lock: Lock) => Promise<T>): Promise<T> {
  const lock = await lockHosts(run.connected.remotes, holder(run, command));
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

/** What takes the cluster's Lease too. */
export interface Locking {
  /** As the locks name it, e.g. `up`. */
  readonly command: string;
  /** True for a restore: afterwards the API serves the Lease that the snapshot holds. */
  readonly replacesData?: true;
}

/**
 * Calls `work` while this run holds the locks of all its hosts and, while the API answers, the cluster's Lease. A lock that
 * is lost for good aborts the run. @throws Refused while another run holds one of them
 */
export function withLocks<T>(run: Run, locking: Locking, work: (lock: Lock) => Promise<T>): Promise<T> {
  const { command, replacesData } = locking;
  const { connected, context, emit, signal, abort } = run;
  return withHostLocks(run, command, async (lock) => {
    emit({ kind: 'locked', hosts: connected.remotes.length });
    void lock.lost.then(abort);
    const lease = await holdLease(() => apiHost(connected), holder(run, command), {
      isGone,
      signal,
      ...(replacesData === true ? { replacesData } : {}),
      onWait: (heldBy) =>
        context.err(`the cluster is locked: held ${heldBy}; if that is not renewed within 45 s, this run takes it\n`),
    });
    void lease.lost.then(abort);
    try {
      return await work(lock);
    } finally {
      await lease.release();
    }
  });
}
