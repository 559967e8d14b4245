import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { acting } from '../cluster/acting.ts';
import { lockHosts } from '../engine/lock.ts';
import { UsageError } from '../errors.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from './context.ts';
import type { Flags } from './flags.ts';
import { holder } from './holder.ts';
import { withRun } from './run.ts';
import { snapshotFolder, snapshotTo } from './snapshots.ts';

/** `kbuild etcd snapshot save [FILE]`: a verified snapshot of the live etcd, 0600. Prints its path. */
export const runSave = (context: Context, flags: Flags, [file]: readonly string[]): Promise<number> =>
  withRun(context, flags, 'etcd-snapshot-save', 'never-json', async (run) => {
    const { connected } = run;
    const path = file === undefined ? join(snapshotFolder(run), `${run.runId}.db`) : resolve(context.cwd, file);
    if (existsSync(path)) throw new UsageError(`${path} is there already; nothing was written`);
    const control = acting(connected.watch.fleet());
    const lock = await lockHosts(connected.remotes, holder(context, 'etcd snapshot save'));
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const status = await snapshotTo(run, connected.on, control, path, 'asked for');
      if (flags.json === true) context.out(jsonDocument({ file: path, through: control.name, ...status }));
      else context.out(`${path}\n`);
      return 0;
    } finally {
      await lock.release();
    }
  });
