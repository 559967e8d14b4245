// @module-tag gpg
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apt } from '../../../src/host/packages/debian-family.value.ts';
import { readKeyFile } from '../../../src/host/packages/openpgp.value.ts';
import type { Keyring } from '../../../src/host/packages/packages.facts.ts';
import { packageRepository } from '../../../src/host/packages/repository.step.ts';
import { gpgHome, type GpgHome } from '../../fakes/gpg.ts';
import { inventory } from '../../fakes/inventory.ts';
import { recordingOn } from '../../fakes/on.ts';
import { target } from '../../fakes/target.ts';

// Keys of the real gpg.
let home: GpgHome;
let fingerprints: readonly string[] = [];
const gpg = (...args: readonly string[]): Buffer => home.gpg(...args);

beforeAll(() => {
  home = gpgHome();
  gpg('--passphrase', '', '--quick-gen-key', 'one@example.com', 'rsa2048', 'default', 'never');
  gpg('--passphrase', '', '--quick-gen-key', 'two@example.com', 'ed25519', 'sign', 'never');
  fingerprints = home.fingerprints();
});
afterAll(() => home.remove());

const { keyring: keyFile } = apt.repositoryFiles('containerd');
const plain = inventory();
const withKey = (fingerprint: string) => ({ ...plain.runtime.repository, fingerprint });
const repository = (fingerprint: string) => packageRepository('containerd', () => withKey(fingerprint));
const serving = (key: () => Buffer) => recordingOn({ run: () => key().toString('base64') });
const one = () => gpg('--armor', '--export', fingerprints[0]!);

test('the key is fetched by the host, checked here, and written with the source', async () => {
  const [key, source] = repository(fingerprints[0]!).map((step) => step.diff(target()));
  expect(key![0]!.summary).toBe(`write ${keyFile} with the key ${fingerprints[0]!} (found none)`);
  const { on, sent } = serving(one);
  await key![0]!.apply!(on);
  await source![0]!.apply!(on);
  expect(sent[0]).toHaveProperty(
    'script',
    expect.stringContaining('URL=https://download.docker.com/linux/debian/gpg\n'),
  );
  expect(sent[1]).toMatchObject({ path: keyFile, content: readKeyFile(one()).armoured, mode: 0o644 });
  expect(sent[2]).toMatchObject({
    content: `# Written by kbuild.\ndeb [signed-by=${keyFile}] https://download.docker.com/linux/debian bookworm stable\n`,
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

test('a second armour block with another key is refused, though the first is the pinned one', async () => {
  const change = repository(fingerprints[0]!)[0]!.diff(target())[0]!;
  const two = () => Buffer.concat([one(), gpg('--armor', '--export', fingerprints[1]!)]);
  const { on, sent } = serving(two);
  await expect(change.apply!(on)).rejects.toThrow(`signing key is ${fingerprints.join(', ')}, and the inventory pins`);
  expect(sent.some(({ kind }) => kind === 'write')).toBe(false);
});

test('what stands around the pinned key is not written', async () => {
  const { on, sent } = serving(() => Buffer.concat([Buffer.from('a page\n'), one(), Buffer.from('and more\n')]));
  await repository(fingerprints[0]!)[0]!.diff(target())[0]!.apply!(on);
  expect(sent[1]).toMatchObject({ content: readKeyFile(one()).armoured });
});

const keyring = (found: Partial<Keyring>) => ({
  keyrings: new Map([[keyFile, { fingerprints: ['A'.repeat(40)], end: 'never', writtenMs: 0, ...found } as const]]),
});

test('a key file with the pinned key is left alone, another one is replaced', () => {
  const [key] = repository('A'.repeat(40));
  expect(key!.diff(target(keyring({})))).toEqual([]);
  expect(key!.diff(target(keyring({ fingerprints: ['B'.repeat(40)] })))).toHaveLength(1);
  expect(key!.diff(target(keyring({ fingerprints: ['A'.repeat(40), 'B'.repeat(40)] })))).toHaveLength(1);
});

const DAY_MS = 24 * 60 * 60_000;

test('a key that runs out within 30 days, or has run out, is fetched again, once a day', () => {
  const nowMs = Date.parse('2026-12-01T00:00:00Z');
  const [key] = repository('A'.repeat(40));
  const summaries = (found: Partial<Keyring>) =>
    key!.diff(target({ nowMs, ...keyring(found) })).map(({ summary }) => summary);
  expect(summaries({ end: Date.parse('2026-12-29T00:00:00Z') })).toEqual([
    `fetch ${keyFile} again (its key runs out on 2026-12-29)`,
  ]);
  expect(summaries({ end: Date.parse('2026-11-02T00:00:00Z') })).toHaveLength(1);
  expect(summaries({ end: nowMs + 31 * DAY_MS })).toEqual([]);
  expect(summaries({ end: nowMs + DAY_MS, writtenMs: nowMs - DAY_MS / 2 })).toEqual([]);
  expect(summaries({ end: 'unknown' })).toEqual([]);
});

test('a key that was extended under the same fingerprint replaces the copy on the host', async () => {
  const [fingerprint] = fingerprints;
  // gpg waits until the second of a new signature is another one.
  const copy = (lifetime: string, secondsLater: number) => {
    const time = String(Math.floor(Date.now() / 1000) + secondsLater);
    gpg('--faked-system-time', time, '--quick-set-expire', fingerprint!, lifetime);
    return one();
  };
  const [before, after] = [copy('20d', 10), copy('2y', 20)];
  const nowMs = Date.now();
  const found = keyring({ fingerprints: [fingerprint!], end: readKeyFile(before).keys[0]!.end });
  const change = () => repository(fingerprint!)[0]!.diff(target({ nowMs, ...found }))[0]!;
  const extended = serving(() => after);
  await change().apply!(extended.on);
  expect(extended.sent[1]).toMatchObject({ kind: 'write', content: readKeyFile(after).armoured });
  // Where the vendor has nothing newer, the copy stays, and its time stamp moves.
  const same = serving(() => before);
  await change().apply!(same.on);
  expect(same.sent[1]).toMatchObject({ kind: 'run', script: `touch ${keyFile}` });
});

test('a key that has run out is not written to a host that has none', async () => {
  const change = repository(fingerprints[1]!)[0]!.diff(target({ nowMs: Date.now() + 4000 * DAY_MS }))[0]!;
  gpg('--faked-system-time', String(Math.floor(Date.now() / 1000) + 30), '--quick-set-expire', fingerprints[1]!, '9y');
  await expect(change.apply!(serving(() => gpg('--export', fingerprints[1]!)).on)).rejects.toThrow(
    `signing key ${fingerprints[1]!} ran out on 20`,
  );
});
