import { CommandError, ConnectError } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Watch } from './watch.ts';

/** What changes with every boot of a host; undefined for one that was not observed. */
function bootOf(fleet: Fleet, name: string): string | undefined {
  const seen = fleet.hosts.find(({ host }) => host.name === name);
  return seen?.os === 'windows' ? seen.facts.machine.bootTime : seen?.facts.bootId;
}

/**
 * The host on which a command failed, when it was restarted since it was seen; nothing that is known counts any more then.
 * undefined when it was not, or does not answer, or the error is of another kind.
 */
export async function restartedHost(watch: Watch, error: unknown): Promise<string | undefined> {
  if (!(error instanceof CommandError || error instanceof ConnectError)) return undefined;
  const { host } = error;
  try {
    const before = bootOf(watch.fleet(), host);
    watch.expire([host]);
    const { value: now } = await watch.evaluate((fleet) => bootOf(fleet, host));
    if (before === undefined || now === before) return undefined;
  } catch {
    return undefined;
  }
  watch.expireAll();
  return host;
}
