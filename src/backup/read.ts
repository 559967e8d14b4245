import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { keyProblem, spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { KbuildError, Refused, UsageError } from '../errors.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { type PartRead, readArchive } from './archive.ts';
import { decrypted, type Keyring } from './encryption.ts';
import { type Manifest, SNAPSHOT } from './manifest.ts';

/** A backup that was read to its end. */
export interface Backup {
  readonly manifest: Manifest;
  /** Contents of all parts but the snapshot, by name. */
  readonly contents: ReadonlyMap<string, Secret>;
}

/** Upper limit of a part that is kept in memory, and of all of them, in bytes. */
const LARGEST_PART = 16 * 1024 * 1024;
const LARGEST_SUM = 128 * 1024 * 1024;

async function textOf({ part, content }: PartRead): Promise<Secret> {
  if (part.size > LARGEST_PART) throw new Error(`${part.name} is larger than 16 MiB`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Secret.of(Buffer.concat(chunks).toString('utf8'));
}

/** Reads the content to its end, so that its hash is verified. */
async function drained(content: AsyncIterable<Uint8Array>): Promise<void> {
  const chunks = content[Symbol.asyncIterator]();
  while ((await chunks.next()).done !== true);
}

/** Prefix of the names of parts that come from /etc/kubernetes/pki of the control plane. */
export const PKI = 'pki/';

/** The certificate and the key of each authority, and its fingerprint in the manifest. */
const AUTHORITIES = [
  ['ca', 'ca'],
  ['front-proxy-ca', 'frontProxyCa'],
  ['etcd/ca', 'etcdCa'],
] as const;

/** @throws Error when a certificate, its key or its fingerprint do not belong together: parts of two backups */
function checkAuthorities(manifest: Manifest, contents: Backup['contents']): void {
  for (const [name, fingerprint] of AUTHORITIES) {
    const certificate = contents.get(`${PKI}${name}.crt`);
    if (certificate === undefined) throw new Error(`it has no ${PKI}${name}.crt`);
    const pem = revealed(certificate);
    if (spkiFingerprint(pem) !== manifest[fingerprint])
      throw new Error(`${PKI}${name}.crt is not the authority that its manifest names`);
    const key = contents.get(`${PKI}${name}.key`);
    const problem = key === undefined ? undefined : keyProblem(pem, key);
    if (problem !== undefined) throw new Error(`${PKI}${name}.key ${problem}`);
  }
  if (!contents.has(`${PKI}sa.key`) || !contents.has(`${PKI}sa.pub`)) throw new Error(`it has no ${PKI}sa.key`);
}

/**
 * Decrypts a backup, reads it to its end, and verifies every part. `snapshotTo`: a new local file for the snapshot of
 * etcd, which gets mode 0600; without it kbuild verifies the snapshot and discards it.
 * @throws UsageError when no key opens it; Refused when it is damaged, cut off, or its parts do not belong together
 */
export async function readBackup(file: string, keyring: Keyring, snapshotTo?: string): Promise<Backup> {
  if (!existsSync(file)) throw new UsageError(`there is no backup ${file}`);
  const contents = new Map<string, Secret>();
  let sum = 0;
  try {
    const plain = await decrypted(createReadStream(file, { highWaterMark: 1 << 20 }), keyring);
    const manifest = await readArchive(plain, async (read) => {
      if (read.part.name !== SNAPSHOT) {
        sum += read.part.size;
        if (sum > LARGEST_SUM) throw new Error('its parts are larger than 128 MiB together');
        contents.set(read.part.name, await textOf(read));
      } else if (snapshotTo === undefined) await drained(read.content);
      else await pipeline(Readable.from(read.content), createWriteStream(snapshotTo, { mode: 0o600, flags: 'wx' }));
    });
    if (!manifest.parts.some(({ name }) => name === SNAPSHOT)) throw new Error(`it has no ${SNAPSHOT}`);
    checkAuthorities(manifest, contents);
    return { manifest, contents };
  } catch (error) {
    if (error instanceof KbuildError) throw error;
    throw new Refused(
      'backup-unusable',
      file,
      `the backup cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      'take another backup of the same cluster; nothing was changed',
    );
  }
}
