import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { archived } from '../backup/archive.ts';
import { encrypted } from '../backup/encryption.ts';
import { acting } from '../cluster/live.ts';
import { memberHost } from '../cluster/member-host.ts';
import { Refused } from '../errors.ts';
import { authoritiesIn } from '../etcd/snapshot.ts';
import { makeFolder } from '../report/files.ts';
import { type DocumentOf, jsonDocument } from '../report/json.ts';
import { lockOf, shownEncryption } from '../session/backup-file.ts';
import { type Context, stateFolder } from '../session/context.ts';
import { withHostLocks } from '../session/locks.ts';
import { refuseForeign } from '../session/preflight.ts';
import type { Run } from '../session/run.ts';
import { snapshotAlone } from '../session/snapshots.ts';
import { withRun } from '../session/with-run.ts';
import { backupContents } from './backup-contents.ts';
import { deliver, type Destination, destinationOf, type Written } from './backup-destination.ts';
import type { BackupOptions } from './backup.command.ts';
import { requireOurs } from './etcd-snapshot-save.ts';

/** What `--json` says beside the file. */
type What = Omit<DocumentOf<'backup'>, 'file' | 'deleted'>;

const fileOf = ({ file }: Written): { readonly file?: string } => (file === undefined ? {} : { file });

/** Prefix of the snapshot that lies unencrypted in the state folder while a backup is written. */
const UNENCRYPTED = 'unencrypted-backup-';

/** Deletes what a killed backup left. Only under the locks: then no other backup of these hosts is written. */
async function deleteLeft(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith(UNENCRYPTED)) await rm(join(folder, name), { force: true });
}

/** Writes the backup. Its snapshot lies on this machine, 0600, until it is encrypted. */
async function write(
  run: Run,
  flags: BackupOptions,
  to: Destination,
): Promise<{ readonly written: Written; readonly what: What }> {
  const { connected, context, inventory, signal } = run;
  const lock = await lockOf(context, flags, inventory);
  const fleet = connected.observations.fleet();
  const control = acting(fleet);
  const member = memberHost(inventory, fleet);
  refuseForeign(run, [...new Set([control.name, member.name])]);
  return withHostLocks(run, async () => {
    const folder = stateFolder(context, inventory.name);
    makeFolder(folder);
    await deleteLeft(folder);
    const path = join(folder, `${UNENCRYPTED}${run.runId}.db`);
    try {
      const status = await snapshotAlone(run, member, path);
      const { manifest, parts } = await backupContents(run, { control, member }, { path, status });
      if (!(await authoritiesIn(path)).has(manifest.ca))
        throw new Refused(
          'different-authorities',
          control.name,
          `its /etc/kubernetes/pki/ca.crt (${manifest.ca}) is not the authority of the cluster in etcd`,
          'find out which of them is right before you rely on a backup; nothing was written',
        );
      const bytes = await encrypted(archived(manifest, parts, context.nowMs()), lock);
      const about = { cluster: inventory.name, runId: run.runId, nowMs: context.nowMs(), env: context.env, signal };
      const { revision, keys, version } = status;
      return {
        written: await deliver(bytes, to, about),
        what: {
          ...{ through: member.name, ca: manifest.ca, revision, keys, version },
          ...(manifest.encryption === undefined ? {} : { encryption: shownEncryption(manifest.encryption) }),
        },
      };
    } finally {
      await rm(path, { force: true });
    }
  });
}

/** `kbuild backup`: a snapshot of etcd, the keys of the control plane and the inventory, in one encrypted file. */
export async function runBackup(outer: Context, flags: BackupOptions, [file]: readonly string[]): Promise<number> {
  const to = await destinationOf(outer, file, flags);
  return withRun(outer, flags, { command: 'backup', json: 'document' }, async (run) => {
    const { context } = run;
    requireOurs(run);
    const { written, what } = await write(run, flags, to);
    if (flags.json === true)
      context.out(jsonDocument<'backup'>({ ...what, deleted: written.deleted, ...fileOf(written) }));
    else if (written.file !== undefined) context.out(`${written.file}\n`);
    return 0;
  });
}
