import { forceUnlock, whoHolds } from '../engine/lock.ts';
import { worstExitCode } from '../errors.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from './context.ts';
import type { Flags } from './flags.ts';
import { withRun } from './run.ts';

/** `kbuild unlock`: who holds the lock of each host; `--force` frees it. Jobs are never ended. */
export const runUnlock = (context: Context, flags: Flags): Promise<number> =>
  withRun(context, flags, 'unlock', 'never-json', async ({ connected }) => {
    const locks = await Promise.all(
      connected.remotes.map(async (remote) => {
        const held = await whoHolds(remote);
        if (held !== undefined && flags.force === true) await forceUnlock(remote);
        return { host: remote.host.name, holder: held ?? null, freed: held !== undefined && flags.force === true };
      }),
    );
    if (flags.json === true) context.out(jsonDocument({ locks }));
    else
      for (const { host, holder, freed } of locks)
        context.out(`${host}: ${holder === null ? 'not locked' : `${freed ? 'freed; was ' : ''}held by ${holder}`}\n`);
    return worstExitCode(connected.watch.fleet().unreachable.map(({ error }) => error));
  });
