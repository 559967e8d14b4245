import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { Lock } from './lock.ts';

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
