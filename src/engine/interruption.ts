import { CommandError, ConnectError } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Observations } from './observations.ts';

/** A value that changes with every boot of a host; undefined for a host that was not observed. */
function bootOf(fleet: Fleet, name: string): string | undefined {
  const seen = fleet.hosts.find(({ host }) => host.name === name);
  return seen?.os === 'windows' ? seen.facts.machine.bootTime : seen?.facts.bootId;
}

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
    const wasRestarted = before !== undefined && now !== before;
    if (!wasRestarted && !(error instanceof CommandError && error.status === 'lost')) return undefined;
    observations.expireAll();
    return wasRestarted ? `${host} was restarted meanwhile` : `the connection to ${host} was lost meanwhile`;
  } catch {
    return undefined;
  }
}
