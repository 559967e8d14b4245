import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import { ReadableStream } from 'node:stream/web';
import { Decrypter, Encrypter, type Identity, type Recipient, Stanza } from 'age-encryption';
import { parse } from 'yaml';
import { UsageError } from '../errors.ts';
import { objectOf, objectsOf, textIn, within } from '../shell/decode.ts';
import { revealed, type Secret } from '../shell/secret.ts';
import { withoutEnd } from '../shell/text.ts';
import type { EncryptionKey } from './manifest.ts';

/** True for the text of an EncryptionConfiguration, which holds keys. */
export const isEncryptionConfiguration = (text: string): boolean =>
  /^[ \t]*["']?kind["']?\s*:\s*["']?EncryptionConfiguration\b/m.test(text) ||
  /"kind"\s*:\s*"EncryptionConfiguration"/.test(text);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The keys of an EncryptionConfiguration (kubernetes.io, "Encrypting Confidential Data at Rest"), each key once, as a
 * hash. Throws if the text is not an EncryptionConfiguration.
 */
export function encryptionKeys(configuration: Secret): readonly EncryptionKey[] {
  const { resources } = objectOf(parse(revealed(configuration)));
  if (!Array.isArray(resources)) throw new Error('is no EncryptionConfiguration');
  const keys = objectsOf(resources)
    .flatMap(({ providers }) =>
      objectsOf(providers).flatMap((provider) => Object.keys(provider).map((name) => ({ name, provider }))),
    )
    .flatMap(({ name: provider, provider: all }): readonly EncryptionKey[] => {
      const settings = within(all, provider);
      if (provider === 'kms') return [{ provider, name: textIn(settings['name'], '') }];
      return objectsOf(settings['keys']).map(({ name, secret }) => ({
        ...{ provider, name: textIn(name, '') },
        sha256: sha256(textIn(secret, '')),
      }));
    });
  return [...new Map(keys.map((key) => [`${key.provider} ${key.name} ${key.sha256 ?? ''}`, key])).values()];
}

/**
 * The wanted keys that are not in `found`. Without them the API servers cannot read the objects that these keys
 * encrypted.
 */
export const missingKeys = (
  wanted: readonly EncryptionKey[],
  found: readonly EncryptionKey[],
): readonly EncryptionKey[] =>
  wanted.filter(({ sha256: hash }) => hash !== undefined && !found.some((key) => key.sha256 === hash));

/** age's type of recipient for SSH keys (filippo.io/age/agessh). The age library does not implement it. */
const LABEL = 'age-encryption.org/v1/ssh-ed25519';
const TYPE = 'ssh-ed25519';
const TAG_BYTES = 16;
const NO_NONCE = Buffer.alloc(12);
/** The DER prefixes of a private and a public key. The key's 32 bytes follow. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI = Buffer.from('302a300506032b656e032100', 'hex');
const BASE = Buffer.from([9, ...new Array<number>(31).fill(0)]);

const x25519 = (scalar: Buffer, point: Buffer): Buffer =>
  diffieHellman({
    privateKey: createPrivateKey({ key: Buffer.concat([PKCS8, scalar]), format: 'der', type: 'pkcs8' }),
    publicKey: createPublicKey({ key: Buffer.concat([SPKI, point]), format: 'der', type: 'spki' }),
  });

const PRIME = 2n ** 255n - 19n;

/** The inverse modulo `PRIME`, by Fermat's little theorem. */
function inverse(value: bigint): bigint {
  let result = 1n;
  let base = value;
  for (let exponent = PRIME - 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return result;
}

/** The point of an Ed25519 key on Curve25519: u = (1 + y) / (1 - y), RFC 7748 section 4.1. */
function montgomery(edwards: Buffer): Buffer {
  const bytes = Buffer.from(edwards).reverse();
  bytes[0]! &= 0x7f;
  const y = BigInt(`0x${bytes.toString('hex')}`);
  const u = ((1n + y) * inverse((1n - y + PRIME) % PRIME)) % PRIME;
  return Buffer.from(u.toString(16).padStart(64, '0'), 'hex').reverse();
}

const derived = (secret: Buffer, salt: Buffer): Buffer => Buffer.from(hkdfSync('sha256', secret, salt, LABEL, 32));
const unpadded = (bytes: Buffer): string => withoutEnd(bytes.toString('base64'), '=');
const tagOf = (wire: Buffer): string => unpadded(createHash('sha256').update(wire).digest().subarray(0, 4));

/** The public key in SSH's wire format, with its 32 bytes. Throws on anything but an Ed25519 key. */
function publicKey(line: string): { readonly wire: Buffer; readonly key: Buffer } {
  const [type, text = ''] = line.trim().split(/\s+/);
  const wire = Buffer.from(text, 'base64');
  const head = Buffer.concat([Buffer.from([0, 0, 0, TYPE.length]), Buffer.from(TYPE), Buffer.from([0, 0, 0, 32])]);
  if (type !== TYPE || wire.length !== head.length + 32 || !wire.subarray(0, head.length).equals(head))
    throw new TypeError('is no public key of the type ssh-ed25519');
  return { wire, key: wire.subarray(head.length) };
}

/** Encrypts for the holder of an SSH key: a line as in authorized_keys. Throws `TypeError` on any other line. */
function sshRecipient(line: string): Recipient {
  const { wire, key } = publicKey(line);
  const theirs = montgomery(key);
  return {
    wrapFileKey: (fileKey) => {
      const ephemeral = randomBytes(32);
      const ours = x25519(ephemeral, BASE);
      const shared = x25519(derived(Buffer.alloc(0), wire), x25519(ephemeral, theirs));
      const wrapping = derived(shared, Buffer.concat([ours, theirs]));
      const cipher = createCipheriv('chacha20-poly1305', wrapping, NO_NONCE, { authTagLength: TAG_BYTES });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      return [new Stanza([TYPE, tagOf(wire), unpadded(ours)], body)];
    },
  };
}

/** Decrypts with an SSH key. `seed`: the 32 bytes of its private key. */
function sshIdentity(seed: Buffer): Identity {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const jwk = createPublicKey(
    createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' }),
  ).export({ format: 'jwk' });
  const key = Buffer.from(jwk.x!, 'base64url');
  const wire = Buffer.concat([Buffer.from([0, 0, 0, TYPE.length]), Buffer.from(TYPE), Buffer.from([0, 0, 0, 32]), key]);
  const scalar = createHash('sha512').update(seed).digest().subarray(0, 32);
  return {
    unwrapFileKey: (stanzas) => {
      const mine = stanzas.filter(({ args: [type, tag] }) => type === TYPE && tag === tagOf(wire));
      for (const { args, body } of mine) {
        const ours = Buffer.from(args[2] ?? '', 'base64');
        if (ours.length !== 32) throw new TypeError('the header of the file is damaged');
        const shared = x25519(derived(Buffer.alloc(0), wire), x25519(scalar, ours));
        const wrapping = derived(shared, Buffer.concat([ours, montgomery(key)]));
        const cipher = createDecipheriv('chacha20-poly1305', wrapping, NO_NONCE, { authTagLength: TAG_BYTES });
        const sealed = Buffer.from(body);
        cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
        try {
          return Buffer.concat([cipher.update(sealed.subarray(0, -TAG_BYTES)), cipher.final()]);
        } catch {
          // Another key may have the same tag: a tag has only four bytes.
        }
      }
      return null;
    },
  };
}

/** How kbuild encrypts a backup: for the holders of keys, or with a passphrase. kbuild never writes it unencrypted. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: Secret };

/** The keys and the passphrase with which kbuild tries to open a backup. */
export interface Keyring {
  /** Lines of age's identity files: `AGE-SECRET-KEY-1…`. */
  readonly identities?: readonly Secret[];
  /** Seeds of Ed25519 keys of SSH, in hexadecimal. */
  readonly seeds?: readonly Secret[];
  readonly passphrase?: Secret;
}

/** Minimum length of a passphrase, in characters. An attacker with a stolen file can guess a shorter one. */
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

/** The bytes, encrypted as age does it. @throws UsageError for a recipient or passphrase that kbuild cannot use */
export const encrypted = async (bytes: Bytes, lock: Lock): Promise<Bytes> =>
  await encrypterOf(lock).encrypt(streamOf(bytes));

/**
 * The decrypted bytes of a file. They are complete only if the iteration ends without an error: the iteration fails if
 * the file was cut off or changed. @throws UsageError if no key opens it
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
