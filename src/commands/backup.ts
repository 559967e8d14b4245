import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { archived } from '../backup/archive.ts';
import { encrypted } from '../backup/encryption.ts';
import type { Manifest } from '../backup/manifest.ts';
import { readBackup } from '../backup/read.ts';
import { acting } from '../cluster/live.ts';
import { memberHost } from '../cluster/member-host.ts';
import { Refused } from '../errors.ts';
import { authoritiesIn } from '../etcd/snapshot.ts';
import { makeFolder } from '../report/files.ts';
import { type DocumentOf, jsonDocument } from '../report/json.ts';
import { type Context, stateFolder } from '../session/context.ts';
import { withHostLocks } from '../session/locks.ts';
import { refuseForeign } from '../session/preflight.ts';
import type { Run } from '../session/run.ts';
import { withRun } from '../session/with-run.ts';
import { backupContents } from './backup-contents.ts';
import { deliver, type Destination, destinationOf, type Written } from './backup-destination.ts';
import { keyringOf, lockOf, shownEncryption } from './backup-file.ts';
import type { BackupOptions, VerifyBackupOptions } from './backup.command.ts';
import { requireOurs } from './etcd-snapshot.ts';
import { snapshotAlone } from './snapshots.ts';

const lineOf = (name: string, value: string): string => `${name.padEnd(16)}${value}\n`;

/** What a backup holds, for people. Names no key. */
function contentsText(manifest: Manifest): string {
  const { cluster, taken, kubernetes, endpoint, ca, etcd, controlPlanes, workers, encryption, files } = manifest;
  return [
    lineOf('cluster', `${cluster}, Kubernetes ${kubernetes}, ${endpoint}`),
    lineOf('taken', `${taken} through ${manifest.through}, by kbuild ${manifest.kbuild}`),
    lineOf('authority', ca),
    lineOf('etcd', `revision ${String(etcd.revision)}, ${String(etcd.keys)} keys, ${etcd.topology}`),
    lineOf('control planes', controlPlanes.map(({ name, address }) => `${name} (${address})`).join(', ')),
    lineOf('workers', workers.length === 0 ? 'none' : workers.join(', ')),
    ...(encryption === undefined
      ? []
      : [
          lineOf(
            'encrypted with',
            `${encryption.keys.map(({ provider, name }) => `${provider} ${name}`).join(', ')}, not in this ` +
              `backup: keep ${encryption.path} elsewhere`,
          ),
        ]),
    ...files.map(({ name, path }) => lineOf(name, path)),
  ].join('');
}

/** The same for scripts. */
function contentsOf({ etcd, encryption, ...manifest }: Manifest): DocumentOf<'backup-contents'> {
  const { cluster, taken, kbuild, kubernetes, endpoint, ca, controlPlanes, workers, files, parts } = manifest;
  const { topology, revision, keys } = etcd;
  return {
    ...{ cluster, taken, kbuild, kubernetes, endpoint, ca, topology, revision, keys },
    ...{ controlPlanes, workers, files, parts },
    ...(encryption === undefined ? {} : { encryption: shownEncryption(encryption) }),
  };
}

/** `kbuild backup verify FILE`: opens it, reads all of it, and says what it holds. Contacts no host. */
export async function runVerifyBackup(
  context: Context,
  flags: VerifyBackupOptions,
  [file = '']: readonly string[],
): Promise<number> {
  const { manifest } = await readBackup(resolve(context.cwd, file), await keyringOf(context, flags));
  context.out(flags.json === true ? jsonDocument<'backup-contents'>(contentsOf(manifest)) : contentsText(manifest));
  return 0;
}

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
