// @module-tag openssl
// @module-tag age
// @module-tag ssh
/** Debian's age opens what kbuild encrypts, and kbuild opens what age encrypts: for its own keys, for SSH keys, by a passphrase. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Encrypter } from 'age-encryption';
import { expect, test } from 'vitest';
import { decrypted, encrypted, type Keyring } from '../../src/backup/encryption.ts';
import { Secret } from '../../src/shell/secret.ts';
import { ed25519Seed } from '../../src/ssh/ssh2-keys.ts';
import { bytesOf, streamOf } from '../fakes/backup.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
const at = (name: string): string => join(folder, name);
const TEXT = 'what only a disaster needs\n'.repeat(10_000);

const encryptedFile = async (name: string, recipients: readonly string[]): Promise<string> => {
  writeFileSync(at(name), await bytesOf(await encrypted(streamOf(Buffer.from(TEXT)), { recipients })));
  return at(name);
};
const opened = async (file: string, keyring: Keyring): Promise<string> =>
  (await bytesOf(await decrypted(streamOf(readFileSync(file)), keyring))).toString();
const age = (...args: readonly string[]): string =>
  execFileSync('age', args, { encoding: 'utf8', maxBuffer: 1 << 24, stdio: 'pipe' });

test('with a key of age-keygen', async () => {
  const key = execFileSync('age-keygen', { encoding: 'utf8', stdio: 'pipe' });
  writeFileSync(at('key'), key);
  const recipient = age('-d', '-i', at('key'), '-o', '-', await encryptedFile('own.age', [/age1\w+/.exec(key)![0]]));
  expect(recipient).toBe(TEXT);
  writeFileSync(at('plain'), TEXT);
  age('-r', /age1\w+/.exec(key)![0], '-o', at('theirs.age'), at('plain'));
  const identity = /AGE-SECRET-KEY-\w+/.exec(key)![0];
  expect(await opened(at('theirs.age'), { identities: [Secret.of(identity)] })).toBe(TEXT);
});

test('with an SSH key, of two recipients either, and an encrypted SSH key needs its passphrase', async () => {
  for (const [name, phrase] of [
    ['ssh', ''],
    ['locked', 'a passphrase'],
  ] as const)
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', phrase, '-f', at(name)]);
  const publicKey = (name: string): string => readFileSync(at(`${name}.pub`), 'utf8').trim();
  const file = await encryptedFile('ssh.age', [publicKey('ssh'), publicKey('locked')]);
  expect(age('-d', '-i', at('ssh'), file)).toBe(TEXT);
  const text = (name: string): Secret => Secret.of(readFileSync(at(name), 'utf8'));
  expect(await opened(file, { seeds: [ed25519Seed(text('ssh'))] })).toBe(TEXT);
  expect(() => ed25519Seed(text('locked'))).toThrow(/passphrase|encrypted/i);
  expect(await opened(file, { seeds: [ed25519Seed(text('locked'), Secret.of('a passphrase'))] })).toBe(TEXT);
  writeFileSync(at('plain'), TEXT);
  age('-R', at('ssh.pub'), '-o', at('theirs-ssh.age'), at('plain'));
  expect(await opened(at('theirs-ssh.age'), { seeds: [ed25519Seed(text('ssh'))] })).toBe(TEXT);
  await expect(
    opened(at('theirs-ssh.age'), { seeds: [ed25519Seed(text('locked'), Secret.of('a passphrase'))] }),
  ).rejects.toThrow(/cannot be opened/);
});

test('with a passphrase, and with no other', async () => {
  const passphrase = Secret.of('correct horse battery staple');
  const made = await bytesOf(await encrypted(streamOf(Buffer.from(TEXT)), { passphrase }));
  expect(made.toString('latin1')).toMatch(/^age-encryption\.org\/v1\n-> scrypt \S+ 18\n/);
  // The same with less work, so that the test is quick.
  const encrypter = new Encrypter();
  encrypter.setPassphrase('correct horse battery staple');
  encrypter.setScryptWorkFactor(10);
  writeFileSync(at('phrase.age'), await encrypter.encrypt(TEXT));
  expect(await opened(at('phrase.age'), { passphrase })).toBe(TEXT);
  await expect(opened(at('phrase.age'), { passphrase: Secret.of('wrong horse battery staple') })).rejects.toThrow(
    /cannot be opened/,
  );
});
