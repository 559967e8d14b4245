import { observedHost } from '../cluster/fleet/fleet.ts';
import { clusterRefusals, foreignHost } from '../cluster/host.refusal.ts';
import { forceFreeLease, whoHoldsLease } from '../engine/lease.ts';
import { forceUnlock, whoHolds } from '../engine/lock.ts';
import { FactError, worstExitCode } from '../errors.ts';
import { jsonDocument } from '../report/json.ts';
import type { Connected } from '../session/connect.ts';
import type { Context } from '../session/context.ts';
import { apiHost } from '../session/locks.ts';
import { withRun } from '../session/with-run.ts';
import type { UnlockOptions } from './tools.command.ts';

/** The lock of one thing: a host, or the cluster. */
interface Shown {
  readonly holder: string | null;
  readonly freed: boolean;
  /** Why `--force` did not free it. */
  readonly notFreed?: Error;
}

/** Whether to free locks; `refusal`: why this one must stay. */
interface Wish {
  readonly force: boolean;
  readonly refusal: Error | undefined;
}

async function shown(
  { force, refusal }: Wish,
  read: () => Promise<string | undefined>,
  free: () => Promise<void>,
): Promise<Shown> {
  const held = await read();
  const freed = held !== undefined && force && refusal === undefined;
  if (freed) await free();
  return {
    holder: held ?? null,
    freed,
    ...(held !== undefined && force && refusal !== undefined ? { notFreed: refusal } : {}),
  };
}

/** The cluster's Lease; undefined if no API answers. */
async function leaseOf(connected: Connected, wish: Wish): Promise<Shown | undefined> {
  const api = apiHost(connected);
  return api === undefined
    ? undefined
    : shown(
        wish,
        () => whoHoldsLease(api),
        () => forceFreeLease(api),
      );
}

/** The error that a function returns, or the FactError that it throws. */
function errorOf(ask: () => Error | undefined): Error | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof FactError) return error;
    throw error;
  }
}

function inWords({ holder, freed, notFreed }: Shown): string {
  if (holder === null) return 'not locked';
  return (
    `${freed ? 'freed; was ' : ''}held by ` +
    `${holder}${notFreed === undefined ? '' : `; not freed: ${notFreed.message}`}`
  );
}

/** A lock as JSON: its error is a message. */
type AsJson<Lock> = Omit<Lock, 'notFreed'> & { readonly notFreed?: string };

const asJson = <Lock extends Shown>({ notFreed, ...lock }: Lock): AsJson<Lock> =>
  notFreed === undefined ? lock : { ...lock, notFreed: notFreed.message };

/**
 * `kbuild unlock`: shows the holder of each host's lock and of the cluster's Lease. `--force` frees them, except those
 * of foreign hosts and clusters. Never ends a job.
 */
export const runUnlock = (outer: Context, flags: UnlockOptions): Promise<number> =>
  withRun(outer, flags, { command: 'unlock', json: 'document' }, async ({ connected, context, inventory }) => {
    const fleet = connected.observations.fleet();
    const force = flags.force === true;
    const locks = await Promise.all(
      connected.remotes.map(async (remote) => {
        const { name } = remote.host;
        const refusal = errorOf(() => foreignHost(inventory, fleet, observedHost(fleet, name)!));
        const lock = await shown(
          { force, refusal },
          () => whoHolds(remote),
          () => forceUnlock(remote),
        );
        return { host: name, ...lock };
      }),
    );
    const lease = await leaseOf(connected, { force, refusal: errorOf(() => clusterRefusals(inventory, fleet)[0]) });
    if (flags.json === true)
      context.out(
        jsonDocument<'unlock'>({ locks: locks.map(asJson), lease: lease === undefined ? null : asJson(lease) }),
      );
    else {
      for (const lock of locks) context.out(`${lock.host}: ${inWords(lock)}\n`);
      if (lease !== undefined) context.out(`cluster: ${inWords(lease)}\n`);
    }
    return worstExitCode([
      ...fleet.unreachable.map(({ error }) => error),
      ...[...locks, ...(lease === undefined ? [] : [lease])].flatMap(({ notFreed }) => notFreed ?? []),
    ]);
  });
