import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Keyring, type Lock, recipientProblem, SHORTEST_PASSPHRASE } from '../backup/encryption.ts';
import { UsageError } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { madeOf, Secret } from '../shell/secret.ts';
import { ed25519Seed } from '../ssh/ssh2-keys.ts';
import type { Context } from './context.ts';

/** What the command line says about how a backup is locked. */
export interface LockFlags {
  readonly recipient?: readonly string[] | undefined;
  readonly passphraseFile?: string | undefined;
}

/** What the command line says about how a backup is opened. */
export interface KeyFlags {
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
