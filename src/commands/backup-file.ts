import { closeSync, openSync, readSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  AGE_HEADER,
  encryptionKeys,
  type Keyring,
  type Lock,
  recipientProblem,
  SHORTEST_PASSPHRASE,
} from '../backup/encryption.ts';
import type { Manifest } from '../backup/manifest.ts';
import { type Backup, readBackup } from '../backup/read.ts';
import { Refused, UsageError } from '../errors.ts';
import { authoritiesIn } from '../etcd/snapshot.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { makeFolder } from '../report/files.ts';
import type { DocumentOf } from '../report/json.ts';
import { type Context, stateFolder } from '../session/context.ts';
import { inventoryFile, readInventory } from '../session/inventory.ts';
import type { Flags } from '../session/options.ts';
import { type JsonObject, objectsOf, textIn, within } from '../shell/decode.ts';
import { madeOf, Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import type { Remote } from '../ssh/remote.ts';
import { ed25519Seed } from '../ssh/ssh2-keys.ts';
import { script } from '../templates.ts';

/** What the command line says about how a backup is locked. */
interface LockFlags {
  readonly recipient?: readonly string[] | undefined;
  readonly passphraseFile?: string | undefined;
}

/** What the command line says about how a backup is opened. */
interface KeyFlags {
  readonly identity?: readonly string[] | undefined;
  readonly passphraseFile?: string | undefined;
}

/** Others than the owner may read the file. */
const OTHERS = 0o077;

/** A file with a secret. @throws UsageError when it cannot be read, or others may read it */
async function secretFile({ cwd }: Context, name: string): Promise<Secret> {
  const path = resolve(cwd, name);
  try {
    if (((await stat(path)).mode & OTHERS) !== 0)
      throw new UsageError(`others may read ${path}`, { remedy: `chmod 600 ${path}` });
    return Secret.of(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const withoutLineEnd = (secret: Secret): Secret => madeOf(secret, (text) => text.replace(/\r?\n$/, ''));

/** The passphrase that the operator types twice. @throws UsageError without a terminal */
async function newPassphrase({ canAsk, askHidden }: Context): Promise<Secret> {
  if (!canAsk)
    throw new UsageError('a backup is never written unencrypted, and there is no terminal to ask for a passphrase on', {
      remedy: 'name recipients (backup.recipients in the inventory, or --recipient), or --passphrase-file FILE',
    });
  const first = await askHidden(`Passphrase of the backup (at least ${String(SHORTEST_PASSPHRASE)} characters): `);
  if (first !== (await askHidden('The same again: '))) throw new UsageError('the two passphrases are not the same');
  return Secret.of(first);
}

/**
 * How the backup is locked: by flags, else by the inventory, else by a passphrase. @throws UsageError when it cannot be
 */
export async function lockOf(
  context: Context,
  { recipient, passphraseFile }: LockFlags,
  { backup }: Inventory,
): Promise<Lock> {
  if (recipient !== undefined && passphraseFile !== undefined)
    throw new UsageError(
      '--recipient and --passphrase-file exclude each other: age encrypts for keys or by a passphrase',
    );
  if (passphraseFile !== undefined) return { passphrase: withoutLineEnd(await secretFile(context, passphraseFile)) };
  const recipients = recipient ?? backup.recipients;
  const problem = recipients.map(recipientProblem).find((one) => one !== undefined);
  if (problem !== undefined) throw new UsageError(problem);
  return recipients.length > 0 ? { recipients } : { passphrase: await newPassphrase(context) };
}

/** The seed of an SSH key; the passphrase of an encrypted one is asked for. */
async function seedOf(context: Context, file: string, text: Secret): Promise<Secret> {
  try {
    return ed25519Seed(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!/passphrase|encrypted/i.test(message)) throw new UsageError(`${file}: ${message}`);
    try {
      return ed25519Seed(text, Secret.of(await context.askHidden(`Passphrase of ${file}: `)));
    } catch (wrong) {
      throw new UsageError(`${file}: ${wrong instanceof Error ? wrong.message : String(wrong)}`);
    }
  }
}

/** What opens a backup: identity files of age or OpenSSH, or a passphrase. @throws UsageError when there is nothing */
export async function keyringOf(context: Context, { identity, passphraseFile }: KeyFlags): Promise<Keyring> {
  if (passphraseFile !== undefined) return { passphrase: withoutLineEnd(await secretFile(context, passphraseFile)) };
  if (identity === undefined) {
    if (!context.canAsk)
      throw new UsageError('there is no key to open the backup with', {
        remedy: 'name --identity FILE (of age-keygen, or an SSH key), or --passphrase-file FILE',
      });
    return { passphrase: Secret.of(await context.askHidden('Passphrase of the backup: ')) };
  }
  const identities: Secret[] = [];
  const seeds: Secret[] = [];
  for (const name of identity) {
    const text = await secretFile(context, name);
    const found = ageIdentities(text);
    if (found.length > 0) identities.push(...found);
    else seeds.push(await seedOf(context, name, text));
  }
  return { identities, seeds };
}

/** The lines of an identity file of age. */
function ageIdentities(text: Secret): readonly Secret[] {
  const found: Secret[] = [];
  madeOf(text, (lines) => {
    for (const line of lines.split('\n')) if (line.startsWith('AGE-SECRET-KEY-')) found.push(Secret.of(line.trim()));
    return '';
  });
  return found;
}

/** Where a file of the API server's pod lies on the host. */
function onHost(path: string, configuration: JsonObject): string {
  const volume = objectsOf(within(configuration, 'apiServer')['extraVolumes'])
    .map(({ hostPath, mountPath }) => ({ hostPath: textIn(hostPath, ''), mountPath: textIn(mountPath, '') }))
    .filter(
      ({ mountPath }) =>
        mountPath !== '' && (path === mountPath || path.startsWith(`${mountPath.replace(/\/$/, '')}/`)),
    )
    .toSorted((one, other) => other.mountPath.length - one.mountPath.length)[0];
  if (volume === undefined || volume.hostPath === '') return path;
  return `${volume.hostPath.replace(/\/$/, '')}${path.slice(volume.mountPath.replace(/\/$/, '').length)}`;
}

/**
 * What encrypts Secrets in etcd: the file that the API server of a control plane reads, and hashes of its keys.
 * undefined if nothing encrypts them. @throws CommandError when the file cannot be read, Error when it is not
 * understood
 */
export async function encryptionAtRest(
  remote: Remote<'sh'>,
  host: LinuxHost,
  configuration: JsonObject,
): Promise<Manifest['encryption']> {
  const manifest = '/etc/kubernetes/manifests/kube-apiserver.yaml';
  const named = (await remote.run(script('session/encryption-file.sh', { MANIFEST: manifest }))).trim();
  if (named === '') return undefined;
  const path = onHost(named, configuration);
  const encoded: Secret = await remote.reveal(sh`base64 -w 0 -- ${path}`);
  try {
    return { path, keys: [...encryptionKeys(madeOf(encoded, (text) => Buffer.from(text, 'base64').toString('utf8')))] };
  } catch {
    throw new Error(
      `${host.name}: ${path} is not understood as an EncryptionConfiguration, and a backup must name its keys`,
    );
  }
}

/** What encrypts Secrets, as JSON documents have it. */
export const shownEncryption = ({
  path,
  keys,
}: NonNullable<Manifest['encryption']>): NonNullable<DocumentOf<'backup'>['encryption']> => ({
  path,
  keys: keys.map(({ provider, name, sha256 }) => ({ provider, name, ...(sha256 === undefined ? {} : { sha256 }) })),
});

/** Prefix of the snapshot that lies unencrypted in the state folder during a restore. */
const UNENCRYPTED = 'unencrypted-restore-';

/** A backup that was read, with its snapshot in a local file. */
export interface OpenedBackup extends Backup {
  readonly snapshot: string;
  readonly inventory: Inventory;
}

/** True for a file that age encrypted. @throws the system's error when it cannot be read */
export function isBackup(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(AGE_HEADER.length);
    readSync(file, head, 0, head.length, 0);
    return head.toString('latin1') === AGE_HEADER;
  } finally {
    closeSync(file);
  }
}

/** @throws Refused unless the snapshot holds the authority that the manifest names */
async function refuseSwapped({ manifest, snapshot }: OpenedBackup): Promise<void> {
  if ((await authoritiesIn(snapshot)).has(manifest.ca)) return;
  throw new Refused(
    'snapshot-of-other-cluster',
    manifest.cluster,
    `the snapshot of the backup is not of the cluster whose keys it has (${manifest.ca})`,
    'take another backup; nothing was changed',
  );
}

/**
 * Calls `use` with a backup that was decrypted and verified. Its snapshot lies on this machine, 0600, until `use` has
 * ended; what a killed run left is deleted first. @throws UsageError and Refused like `readBackup`
 */
export async function withOpenedBackup<T>(
  context: Context,
  flags: Flags & KeyFlags,
  path: string,
  use: (opened: OpenedBackup) => Promise<T>,
): Promise<T> {
  // It is read again later.
  if (inventoryFile(context, flags) === '-')
    throw new UsageError('a restore from a backup needs the inventory as a file: -i FILE');
  const { inventory } = await readInventory(context, { ...flags, quiet: true });
  const folder = stateFolder(context, inventory.name);
  makeFolder(folder);
  for (const name of await readdir(folder)) {
    if (name.startsWith(UNENCRYPTED)) await rm(join(folder, name), { force: true });
  }
  const snapshot = join(folder, `${UNENCRYPTED}${String(context.nowMs()).replace('.', '-')}.db`);
  try {
    const backup = await readBackup(path, await keyringOf(context, flags), snapshot);
    const opened = { ...backup, snapshot, inventory };
    await refuseSwapped(opened);
    return await use(opened);
  } finally {
    await rm(snapshot, { force: true });
  }
}
