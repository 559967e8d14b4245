import { forceFreeLease, whoHoldsLease } from '../engine/lease.ts';
import { forceUnlock, whoHolds } from '../engine/lock.ts';
import { worstExitCode } from '../errors.ts';
import { jsonDocument } from '../report/json.ts';
import { apiHost } from './api-host.ts';
import type { Connected } from './connect.ts';
import type { Context } from './context.ts';
import type { Flags } from './flags.ts';
import { withRun } from './run.ts';

/** The lock of one thing: a host, or the cluster. */
interface Shown {
  readonly holder: string | null;
  readonly freed: boolean;
}

async function shown(flags: Flags, look: () => Promise<string | undefined>, free: () => Promise<void>): Promise<Shown> {
  const held = await look();
  const freed = held !== undefined && flags.force === true;
  if (freed) await free();
  return { holder: held ?? null, freed };
}

/** The cluster's Lease; undefined where no API answers. */
async function leaseOf(connected: Connected, flags: Flags): Promise<Shown | undefined> {
  const api = apiHost(connected);
  return api === undefined
    ? undefined
    : shown(
        flags,
        () => whoHoldsLease(api),
        () => forceFreeLease(api),
      );
}

const inWords = ({ holder, freed }: Shown): string =>
  holder === null ? 'not locked' : `${freed ? 'freed; was ' : ''}held by ${holder}`;

/** `kbuild unlock`: who holds the lock of each host and of the cluster; `--force` frees them. Jobs are never ended. */
export const runUnlock = (outer: Context, flags: Flags): Promise<number> =>
  withRun(outer, flags, 'unlock', 'never-json', async ({ connected, context }) => {
    const locks = await Promise.all(
      connected.remotes.map(async (remote) => ({
        host: remote.host.name,
        ...(await shown(
          flags,
          () => whoHolds(remote),
          () => forceUnlock(remote),
        )),
      })),
    );
    const lease = await leaseOf(connected, flags);
    if (flags.json === true) context.out(jsonDocument({ locks, lease: lease ?? null }));
    else {
      for (const lock of locks) context.out(`${lock.host}: ${inWords(lock)}\n`);
      if (lease !== undefined) context.out(`cluster: ${inWords(lease)}\n`);
    }
    return worstExitCode(connected.watch.fleet().unreachable.map(({ error }) => error));
  });
