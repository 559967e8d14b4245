import { resolve } from 'node:path';
import type { Manifest } from '../backup/manifest.ts';
import { readBackup } from '../backup/read.ts';
import { type DocumentOf, jsonDocument } from '../report/json.ts';
import { keyringOf, shownEncryption } from '../session/backup-file.ts';
import type { Context } from '../session/context.ts';
import type { VerifyBackupOptions } from './backup.command.ts';

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
