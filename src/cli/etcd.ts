import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { memberHost } from '../cluster/member-host.ts';
import { lockHosts } from '../engine/lock.ts';
import { Refused, UsageError } from '../errors.ts';
import { jsonDocument } from '../report/json.ts';
import { makeFolder } from '../report/make-folder.ts';
import type { SaveSnapshotOptions } from './commands/etcd-snapshot-save.ts';
import type { Context } from './context.ts';
import { holder } from './session/holder.ts';
import { refuseForeign } from './session/preflight.ts';
import { withRun, type Run } from './session/run.ts';
import { snapshotFolder, snapshotTo } from './session/snapshots.ts';

/** @throws Refused where etcd is the user's own: kbuild has no etcdctl there, and no say. */
export function requireOurs({ inventory }: Run): void {
  if (inventory.etcd.topology !== 'external') return;
  throw new Refused(
    inventory.name,
    'its etcd is your own, and so are its snapshots',
    'use etcdctl snapshot save, and etcdutl snapshot restore, on its members',
  );
}

/** `kbuild etcd snapshot save [FILE]`: a verified snapshot of the live etcd, 0600. Prints its path. */
export const runSave = (outer: Context, flags: SaveSnapshotOptions, [file]: readonly string[]): Promise<number> =>
  withRun(outer, flags, 'etcd-snapshot-save', 'never-json', async (run) => {
    const { context } = run;
    requireOurs(run);
    const { connected, inventory } = run;
    const path = file === undefined ? join(snapshotFolder(run), `${run.runId}.db`) : resolve(context.cwd, file);
    if (existsSync(path)) throw new UsageError(`${path} is there already; nothing was written`);
    const control = memberHost(inventory, connected.watch.fleet());
    refuseForeign(run, [control.name]);
    const lock = await lockHosts(connected.remotes, holder(run, 'etcd snapshot save'));
    try {
      makeFolder(dirname(path));
      const status = await snapshotTo(run, connected.on, control, path, 'asked for');
      if (flags.json === true) context.out(jsonDocument({ file: path, through: control.name, ...status }));
      else context.out(`${path}\n`);
      return 0;
    } finally {
      await lock.release();
    }
  });
