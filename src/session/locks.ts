import type { Fleet } from '../cluster/fleet/fleet.ts';
import { acting } from '../cluster/live.ts';
import { type ApiHost, holdLease } from '../engine/lease.ts';
import { type Lock, lockHosts } from '../engine/lock.ts';
import { apiServerUrl } from '../inventory/api-server.ts';
import type { Connected } from './connect.ts';
import { holder, isGone } from './run-record.ts';
import type { Run } from './run.ts';

/** An older observation, in ms, is repeated: operators and other tools change hosts without kbuild's lock. */
const CURRENT_MS = 10_000;

/**
 * True when an observation from before the hosts were locked is as good as one under the lock: every host was observed
 * a moment ago, no job of kbuild ran there, and no run held its lock since.
 */
export function isObservationCurrent(fleet: Fleet, { usedBefore }: Pick<Lock, 'usedBefore'>, ageMs: number): boolean {
  if (ageMs > CURRENT_MS || fleet.unreachable.length > 0) return false;
  try {
    return fleet.hosts.every(
      ({ os, host, facts }) =>
        os === 'linux' && facts.runningJob === 'none' && facts.lockUsed === usedBefore.get(host.name),
    );
  } catch {
    return false;
  }
}

/**
 * The control plane through which this run uses the cluster's API; undefined if no API answered when it was last
 * observed.
 */
export function apiHost({ inventory, observations, on }: Connected): ApiHost | undefined {
  const fleet = observations.fleet();
  if (fleet.cluster.state !== 'up') return undefined;
  try {
    const host = acting(fleet);
    return { remote: on(host), server: apiServerUrl(inventory, host) };
  } catch {
    return undefined;
  }
}

/** Calls `work` while this run holds the locks of all its hosts. @throws Refused while another run holds one */
export async function withHostLocks<T>(run: Run, work: (lock: Lock) => Promise<T>): Promise<T> {
  const lock = await lockHosts(run.connected.remotes, holder(run));
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

/**
 * Calls `work` while this run holds the locks of all its hosts and, while the API answers, the cluster's Lease. A lock
 * that is lost for good aborts the run. `replacesData`: true for a restore, after which the API serves the Lease that
 * the snapshot holds. @throws Refused while another run holds one of them
 */
export function withLocks<T>(run: Run, replacesData: true | undefined, work: (lock: Lock) => Promise<T>): Promise<T> {
  const { connected, context, emit, signal, abort, beginWait } = run;
  return withHostLocks(run, async (lock) => {
    emit({ kind: 'locked', hosts: connected.remotes.length });
    void lock.lost.then(abort);
    let waited: (() => void) | undefined;
    const lease = await holdLease(() => apiHost(connected), holder(run), {
      isGone,
      signal,
      ...(replacesData === true ? { replacesData } : {}),
      onWait: (heldBy) => {
        waited ??= beginWait({ what: 'lock', summary: `the cluster is locked: held ${heldBy}` });
        context.err(`the cluster is locked: held ${heldBy}; if that is not renewed within 45 s, this run takes it\n`);
      },
    }).finally(() => waited?.());
    void lease.lost.then(abort);
    try {
      return await work(lock);
    } finally {
      await lease.release();
    }
  });
}
