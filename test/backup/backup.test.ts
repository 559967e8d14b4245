// @module-tag openssl
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beforeAll, describe, expect, test } from 'vitest';
import { textPart } from '../../src/backup/archive.ts';
import {
  encrypted,
  encryptionKeys,
  isEncryptionConfiguration,
  type Keyring,
  type Lock,
  missingKeys,
} from '../../src/backup/encryption.ts';
import { MANIFEST, manifestText, parseManifest, SNAPSHOT } from '../../src/backup/manifest.ts';
import { readBackup } from '../../src/backup/read.ts';
import { Refused, UsageError } from '../../src/errors.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import { authority, backupFile, ca, manifestOf, partsOf, plainBackup, streamOf } from '../fakes/backup.ts';

let lock: Lock;
let keyring: Keyring;

beforeAll(async () => {
  const identity = await generateX25519Identity();
  lock = { recipients: [await identityToRecipient(identity)] };
  keyring = { identities: [Secret.of(identity)] };
});

const read = async (plain: Uint8Array) => readBackup(await backupFile(lock, plain), keyring);

describe('a backup', () => {
  test('is read as it was written, and its snapshot becomes a file that only its owner reads', async () => {
    const file = await backupFile(lock, await plainBackup());
    const { manifest, contents } = await readBackup(file, keyring, `${file}.db`);
    expect(manifest).toEqual(manifestOf());
    expect(revealed(contents.get('pki/ca.key')!)).toBe(ca.key);
    expect(contents.has(SNAPSHOT)).toBe(false);
    expect(readFileSync(`${file}.db`, 'utf8')).toContain('data of etcd');
    expect(statSync(`${file}.db`).mode & 0o777).toBe(0o600);
  });

  test('shows nothing of what it holds', async () => {
    const bytes = readFileSync(await backupFile(lock, await plainBackup()), 'latin1');
    expect(bytes.startsWith('age-encryption.org/v1\n')).toBe(true);
    for (const text of ['demo', 'PRIVATE KEY', 'manifest', 'data of etcd']) expect(bytes).not.toContain(text);
  });

  test('that was cut off anywhere is refused', async () => {
    const file = await backupFile(lock, await plainBackup());
    const { size } = statSync(file);
    for (const left of [size - 1, size - 17, size - 600, Math.floor(size / 2)]) {
      truncateSync(file, left);
      await expect(readBackup(file, keyring), String(left)).rejects.toThrow(Refused);
    }
    truncateSync(file, 60);
    await expect(readBackup(file, keyring)).rejects.toThrow(UsageError);
  });

  test('of which one byte differs is refused', async () => {
    const file = await backupFile(lock, await plainBackup());
    const bytes = readFileSync(file);
    bytes[bytes.length - 40]! ^= 1;
    writeFileSync(file, bytes);
    await expect(readBackup(file, keyring)).rejects.toThrow(Refused);
  });

  test('is not opened by another key or passphrase', async () => {
    const file = await backupFile(lock, await plainBackup());
    const other = { identities: [Secret.of(await generateX25519Identity())] };
    await expect(readBackup(file, other)).rejects.toThrow(/cannot be opened/);
    await expect(readBackup(file, { passphrase: Secret.of('correct horse battery') })).rejects.toThrow(UsageError);
  });

  test('is refused when a part is exchanged for that of another backup', async () => {
    const foreign = authority('kubernetes');
    const whole = { 'pki/ca.crt': foreign.cert, 'pki/ca.key': foreign.key };
    await expect(read(await plainBackup(manifestOf({}, partsOf(whole)), partsOf(whole)))).rejects.toThrow(
      'pki/ca.crt is not the authority that its manifest names',
    );
    const key = { 'pki/ca.key': foreign.key };
    await expect(read(await plainBackup(manifestOf({}, partsOf(key)), partsOf(key)))).rejects.toThrow(
      'pki/ca.key is not the key of this certificate',
    );
    const swapped = (await plainBackup()).toString('latin1').replace('data of etcd', 'data of evil');
    await expect(read(Buffer.from(swapped, 'latin1'))).rejects.toThrow(
      'snapshot.db does not match its hash in the manifest',
    );
  });

  test('is refused when it has less, more or other parts than its manifest', async () => {
    const all = partsOf();
    const manifest = manifestOf();
    const without = all.filter(({ part }) => part.name !== 'pki/sa.key');
    await expect(read(await plainBackup(manifest, without))).rejects.toThrow('where its manifest says pki/sa.key');
    await expect(read(await plainBackup(manifest, [...all, textPart('more', 'x')]))).rejects.toThrow(
      'more than its manifest',
    );
    await expect(read(await plainBackup(manifestOf({}, without), without))).rejects.toThrow('it has no pki/sa.key');
    await expect(read(Buffer.alloc(2_048))).rejects.toThrow('not a backup of kbuild');
  });

  test('cannot name a file outside of itself', async () => {
    for (const name of ['../../etc/cron.d/x', '/etc/passwd', 'pki/../../x', 'pki//ca.crt', '.ssh/authorized_keys']) {
      const parts = [...partsOf(), textPart(name, 'x')];
      await expect(read(await plainBackup(manifestOf({}, parts), parts)), name).rejects.toThrow(MANIFEST);
    }
  });

  test('of a format to come is refused by name', () => {
    const later = { ...manifestOf(), formatVersion: 2 };
    expect(() => parseManifest(JSON.stringify(later))).toThrow('use a newer kbuild');
    expect(parseManifest(manifestText(manifestOf()))).toEqual(manifestOf());
    expect(() => parseManifest('{"format":"other"}')).toThrow('is not valid');
    expect(() => parseManifest('null')).toThrow('is not valid');
  });

  test('fails while a part changes under it, and nothing unencrypted is ever made', async () => {
    const [first, ...rest] = partsOf();
    const changed = [{ ...first!, content: () => [Buffer.from('other')] }, ...rest];
    await expect(plainBackup(manifestOf(), changed)).rejects.toThrow('changed while the backup was written');
    await expect(encrypted(streamOf(Buffer.from('x')), { recipients: [] })).rejects.toThrow(
      'never written unencrypted',
    );
    await expect(encrypted(streamOf(Buffer.from('x')), { passphrase: Secret.of('short') })).rejects.toThrow(UsageError);
    await expect(encrypted(streamOf(Buffer.from('x')), { recipients: ['age1nonsense'] })).rejects.toThrow(UsageError);
  });

  test('that is larger than a chunk of age is read whole', async () => {
    const large = randomBytes(400_000).toString('base64');
    const parts = partsOf({ [SNAPSHOT]: large });
    const file = await backupFile(lock, await plainBackup(manifestOf({}, parts), parts));
    await readBackup(file, keyring, `${file}.db`);
    expect(
      createHash('sha256')
        .update(readFileSync(`${file}.db`))
        .digest('hex'),
    ).toBe(parts.at(-1)!.part.sha256);
    await expect(readBackup(file, keyring, `${file}.db`)).rejects.toThrow('EEXIST');
    expect(existsSync(`${file}.db`)).toBe(true);
  });
});

describe('keys of the encryption at rest', () => {
  const configuration = (secret: string) => `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - aescbc: { keys: [{ name: key1, secret: ${secret} }] }
      - kms: { apiVersion: v2, name: vault, endpoint: unix:///x.sock }
      - identity: {}
  - resources: [configmaps]
    providers:
      - aescbc: { keys: [{ name: key1, secret: ${secret} }] }
`;

  test('are named by a hash, each once, and never by themselves', () => {
    const keys = encryptionKeys(Secret.of(configuration('c2VjcmV0')));
    expect(keys).toEqual([
      { provider: 'aescbc', name: 'key1', sha256: createHash('sha256').update('c2VjcmV0').digest('hex') },
      { provider: 'kms', name: 'vault' },
    ]);
    expect(JSON.stringify(keys)).not.toContain('c2VjcmV0');
    expect(() => encryptionKeys(Secret.of('kind: Policy'))).toThrow();
    // A key of another form would be hashed as something else, and a restore would miss it.
    const odd = 'resources: [{providers: [{aescbc: {keys: [{name: a, secret: 7}]}}]}]';
    expect(() => encryptionKeys(Secret.of(odd))).toThrow('number where a text was expected');
  });

  test('are missing when another key has their name', () => {
    const wanted = encryptionKeys(Secret.of(configuration('c2VjcmV0')));
    expect(missingKeys(wanted, encryptionKeys(Secret.of(configuration('b3RoZXI='))))).toEqual([wanted[0]]);
    expect(missingKeys(wanted, wanted)).toEqual([]);
  });

  test('are recognised in YAML and in JSON', () => {
    expect(isEncryptionConfiguration(configuration('x'))).toBe(true);
    expect(isEncryptionConfiguration('{"kind": "EncryptionConfiguration"}')).toBe(true);
    expect(isEncryptionConfiguration('kind: Policy # EncryptionConfiguration')).toBe(false);
  });
});
