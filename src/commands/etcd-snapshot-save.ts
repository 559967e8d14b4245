import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { memberHost } from '../cluster/member-host.ts';
import { Refused, UsageError } from '../errors.ts';
import { makeFolder } from '../report/files.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from '../session/context.ts';
import { withHostLocks } from '../session/locks.ts';
import { refuseForeign } from '../session/preflight.ts';
import type { Run } from '../session/run.ts';
import { snapshotFolder, snapshotTo } from '../session/snapshots.ts';
import { withRun } from '../session/with-run.ts';
import type { SaveSnapshotOptions } from './etcd.command.ts';

/** @throws Refused if etcd is the user's own: kbuild does not manage it. */
export function requireOurs({ inventory }: Run): void {
  if (inventory.etcd.topology !== 'external') return;
  throw new Refused(
    'external-etcd',
    inventory.name,
    'its etcd is your own, and so are its snapshots',
    'use etcdctl snapshot save, and etcdutl snapshot restore, on its members',
  );
}

/** `kbuild etcd snapshot save [FILE]`: a verified snapshot of the live etcd, 0600. Prints its path. */
export const runSave = (outer: Context, flags: SaveSnapshotOptions, [file]: readonly string[]): Promise<number> =>
  withRun(outer, flags, { command: 'etcd snapshot save', json: 'document' }, async (run) => {
    const { context } = run;
    requireOurs(run);
    const { connected, inventory } = run;
    const path = file === undefined ? join(snapshotFolder(run), `${run.runId}.db`) : resolve(context.cwd, file);
    if (existsSync(path)) throw new UsageError(`${path} is there already; nothing was written`);
    const control = memberHost(inventory, connected.observations.fleet());
    refuseForeign(run, [control.name]);
    return withHostLocks(run, async () => {
      makeFolder(dirname(path));
      const status = await snapshotTo(run, connected.on, control, path, 'asked for');
      if (flags.json === true) context.out(jsonDocument<'snapshot'>({ file: path, through: control.name, ...status }));
      else context.out(`${path}\n`);
      return 0;
    });
  });
