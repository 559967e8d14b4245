import type { Fleet } from '../facts/fleet.ts';
import type { Lock } from './lock.ts';

/** What was seen longer ago than this, in ms, is looked at again: people and other tools change hosts without our lock. */
const SEEN_WITHIN_MS = 10_000;

/**
 * True when what was seen of a fleet before its hosts were locked is as good as a look under the lock: every host was seen,
 * just now, nothing of ours was at work there, and nobody held its lock since.
 */
export function stillCounts(fleet: Fleet, { usedBefore }: Pick<Lock, 'usedBefore'>, ageMs: number): boolean {
  if (ageMs > SEEN_WITHIN_MS || fleet.unreachable.length > 0) return false;
  try {
    return fleet.hosts.every(
      ({ os, host, facts }) =>
        os === 'linux' && facts.runningJob === 'none' && facts.lockUsed === usedBefore.get(host.name),
    );
  } catch {
    return false;
  }
}
