import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paths } from '../../src/paths.ts';
import { aptRepository } from '../../src/resources/apt-repository.ts';
import { armoured, keyFingerprints } from '../../src/shell/openpgp.ts';
import { inventory } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

// Keys of the real gpg: an RSA key with a subkey and an Ed25519 one.
let home = '';
let fingerprints: readonly string[] = [];
const gpg = (...args: readonly string[]): Buffer =>
  execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kbuild-gpg-'));
  gpg('--passphrase', '', '--quick-gen-key', 'one@example.com', 'rsa2048', 'default', 'never');
  gpg('--passphrase', '', '--quick-gen-key', 'two@example.com', 'ed25519', 'sign', 'never');
  fingerprints = gpg('--with-colons', '--list-keys')
    .toString()
    .split(/^pub:/m)
    .slice(1)
    .map((block) => /^fpr:+([0-9A-F]+):/m.exec(block)![1]!);
});
afterAll(() => {
  execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'], { stdio: 'ignore' });
  rmSync(home, { recursive: true });
});

test('fingerprints are those that gpg prints, armoured or not', () => {
  expect(fingerprints).toHaveLength(2);
  expect(keyFingerprints(gpg('--export'))).toEqual(fingerprints);
  expect(keyFingerprints(gpg('--armor', '--export'))).toEqual(fingerprints);
  expect(keyFingerprints(Buffer.from(armoured(gpg('--export')), 'latin1'))).toEqual(fingerprints);
});

test('what is no key is an error', () => {
  expect(() => keyFingerprints(Buffer.from('<html>not found</html>'))).toThrow('not an OpenPGP key');
  expect(() => keyFingerprints(gpg('--export').subarray(0, 100))).toThrow('cut off');
});

const plain = inventory();
const withKey = (fingerprint: string) => ({ ...plain.runtime.repository, fingerprint });
const repository = (fingerprint: string) =>
  aptRepository('containerd', {
    repository: () => withKey(fingerprint),
    keyring: paths.containerdKeyring,
    source: paths.containerdSource,
  });
const serving = (key: () => Buffer) => recordingOn({ run: () => key().toString('base64') });
const one = () => gpg('--armor', '--export', fingerprints[0]!);

test('the key is fetched by the host, checked here, and written with the source', async () => {
  const [key, source] = repository(fingerprints[0]!).map((step) => step.diff(target()));
  expect(key![0]!.summary).toBe(`write ${paths.containerdKeyring} with the key ${fingerprints[0]!} (found none)`);
  const { on, sent } = serving(one);
  await key![0]!.apply!(on);
  await source![0]!.apply!(on);
  expect(sent[0]).toHaveProperty(
    'script',
    expect.stringContaining('URL=https://download.docker.com/linux/debian/gpg\n'),
  );
  expect(sent[1]).toMatchObject({ path: paths.containerdKeyring, content: one().toString(), mode: 0o644 });
  expect(sent[2]).toMatchObject({
    content: `# Written by kbuild.\ndeb [signed-by=${paths.containerdKeyring}] https://download.docker.com/linux/debian bookworm stable\n`,
  });
});

test('a key that is not the pinned one is refused and not written', async () => {
  const { on, sent } = serving(one);
  const change = repository('0'.repeat(40))[0]!.diff(target())[0]!;
  await expect(change.apply!(on)).rejects.toThrow(`signing key is ${fingerprints[0]!}, and the inventory pins 000`);
  expect(sent.some(({ kind }) => kind === 'write')).toBe(false);
});

test('a file with a second key beside the pinned one is refused: apt would trust both', async () => {
  const change = repository(fingerprints[0]!)[0]!.diff(target())[0]!;
  await expect(change.apply!(serving(() => gpg('--export')).on)).rejects.toThrow('refused');
});

test('a key file with the pinned key is left alone, another one is replaced', () => {
  const keyrings = (found: string) => new Map([[paths.containerdKeyring, [found]]]);
  const [key] = repository('A'.repeat(40));
  expect(key!.diff(target({ keyrings: keyrings('A'.repeat(40)) }))).toEqual([]);
  expect(key!.diff(target({ keyrings: keyrings('B'.repeat(40)) }))).toHaveLength(1);
});
