import { Decrypter, Encrypter } from 'age-encryption';
import { ReadableStream } from 'node:stream/web';
import { UsageError } from '../errors.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { sshIdentity, sshRecipient } from './ssh-ed25519.ts';

/** How a backup is locked: for the holders of keys, or by a passphrase. There is no third way. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: Secret };

/** What may open a backup. */
export interface Keyring {
  /** Lines of age's identity files: `AGE-SECRET-KEY-1…`. */
  readonly identities?: readonly Secret[];
  /** Seeds of Ed25519 keys of SSH, in hexadecimal. */
  readonly seeds?: readonly Secret[];
  readonly passphrase?: Secret;
}

/** Shorter passphrases are guessed from a stolen file. */
export const SHORTEST_PASSPHRASE = 12;

/** The first line of each file that age encrypted. */
export const AGE_HEADER = 'age-encryption.org/v1\n';

/** Why a text cannot be a recipient; undefined if it can. */
export function recipientProblem(recipient: string): string | undefined {
  try {
    addRecipient(new Encrypter(), recipient);
    return undefined;
  } catch {
    return `"${recipient}" is no recipient; it must be age1… (age-keygen) or ssh-ed25519 …`;
  }
}

const addRecipient = (encrypter: Encrypter, recipient: string): void =>
  encrypter.addRecipient(recipient.startsWith('ssh-') ? sshRecipient(recipient) : recipient);

function encrypterOf(lock: Lock): Encrypter {
  const encrypter = new Encrypter();
  if ('passphrase' in lock) {
    const passphrase = revealed(lock.passphrase);
    if (passphrase.length < SHORTEST_PASSPHRASE)
      throw new UsageError(`the passphrase is shorter than ${String(SHORTEST_PASSPHRASE)} characters`);
    encrypter.setPassphrase(passphrase);
    return encrypter;
  }
  if (lock.recipients.length === 0) throw new UsageError('a backup is never written unencrypted; name a recipient');
  for (const recipient of lock.recipients) {
    const problem = recipientProblem(recipient);
    if (problem !== undefined) throw new UsageError(problem);
    addRecipient(encrypter, recipient);
  }
  return encrypter;
}

type Bytes = AsyncIterable<Uint8Array>;

const streamOf = (bytes: Bytes) => ReadableStream.from(bytes) as globalThis.ReadableStream<Uint8Array>;

/** The bytes, encrypted as age does it. @throws UsageError for a recipient or passphrase that does not do */
export const encrypted = async (bytes: Bytes, lock: Lock): Promise<Bytes> =>
  await encrypterOf(lock).encrypt(streamOf(bytes));

/**
 * The bytes that an encrypted file holds. They are whole only when the iteration ends without an error: a file that was cut
 * off or changed fails in its middle. @throws UsageError when no key opens it
 */
export async function decrypted(bytes: Bytes, { identities = [], seeds = [], passphrase }: Keyring): Promise<Bytes> {
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(revealed(identity));
  for (const seed of seeds) decrypter.addIdentity(sshIdentity(Buffer.from(revealed(seed), 'hex')));
  if (passphrase !== undefined) decrypter.addPassphrase(revealed(passphrase));
  try {
    return await decrypter.decrypt(streamOf(bytes));
  } catch (error) {
    throw new UsageError(`the backup cannot be opened: ${error instanceof Error ? error.message : String(error)}`, {
      remedy: 'give the key or the passphrase that it was made with; if it is the right one, the file is damaged',
    });
  }
}
