import { CommandError, ConnectError } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Observations } from './observations.ts';

/** What a boot of a host is known by; undefined for a host that was not observed. */
function bootOf(fleet: Fleet, name: string): string | number | undefined {
  const seen = fleet.hosts.find(({ host }) => host.name === name);
  return seen?.os === 'windows' ? seen.facts.machine.bootedMs : seen?.facts.bootId;
}

/** How much two readings of the time of one boot may differ, in ms. No Windows restarts within it. */
const SAME_BOOT_MS = 30_000;

const isAnotherBoot = (before: string | number, now: string | number | undefined): boolean =>
  typeof before === 'number' && typeof now === 'number' ? Math.abs(now - before) > SAME_BOOT_MS : now !== before;

/** True when no status came: the connection ended, or the command ended with its host. */
const isUnanswered = (error: unknown): error is CommandError | ConnectError =>
  error instanceof ConnectError || (error instanceof CommandError && typeof error.status === 'string');

/**
 * What interrupted a step, in words: the host was restarted since it was observed, or the connection was lost during a
 * command, and the host answers again. All facts have expired then. undefined for every other failure.
 */
export async function interruptionOf(observations: Observations, error: unknown): Promise<string | undefined> {
  if (!isUnanswered(error)) return undefined;
  const { host } = error;
  try {
    const before = bootOf(observations.fleet(), host);
    observations.expire([host]);
    const { value: now } = await observations.evaluate((fleet) => bootOf(fleet, host));
    const wasRestarted = before !== undefined && isAnotherBoot(before, now);
    if (!wasRestarted && !(error instanceof CommandError && error.status === 'lost')) return undefined;
    observations.expireAll();
    return wasRestarted ? `${host} was restarted meanwhile` : `the connection to ${host} was lost meanwhile`;
  } catch {
    return undefined;
  }
}
