// @module-tag gpg
// @module-tag linux
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type Key, readKeys } from 'openpgp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readKeyFile } from '../../../src/host/packages/openpgp.value.ts';
import { gpgHome, type GpgHome } from '../../fakes/gpg.ts';

/*
 * The own reader of OpenPGP keys against the library openpgp. Both say of each key in a file until when it can verify signatures: a time,
 * `never`, `ended` (run out, or revoked), or that they know of no valid self-signature. They may refuse the file.
 */

const KEYS: readonly (readonly [algorithm: string, lifetime: string])[] = [
  ['rsa2048', 'never'],
  ['rsa3072', '30d'],
  ['ed25519', '40d'],
  ['nistp256', '2y'],
  ['nistp384', '3d'],
  ['nistp521', '1y'],
  ['ed25519', 'never'],
];
const REVOKED = KEYS.length - 1;

/** Repositories' keys that this system has. Keys of DSA, which none of them made since 2010, are among the removed ones. */
const KEYRINGS = '/usr/share/keyrings';
const REMOVED = 'removed';

/** Keys are as old as this test, and a time of the past would be before them. */
const NOW = new Date(Date.now() + 10 * 60_000);

let home: GpgHome;
/** What the revoked key says without its revocation. */
let unrevoked: ReadonlyMap<string, string>;
const files: { readonly name: string; readonly file: Buffer }[] = [];

beforeAll(() => {
  home = gpgHome();
  for (const [i, [algorithm, lifetime]] of KEYS.entries())
    home.gpg('--passphrase', '', '--quick-gen-key', `key${String(i)}@example.com`, algorithm, 'sign', lifetime);
  const fingerprints = home.fingerprints();
  unrevoked = own(home.gpg('--export', fingerprints[REVOKED]!)) as ReadonlyMap<string, string>;
  home.revoke(fingerprints[REVOKED]!);
  for (const [i, fingerprint] of fingerprints.entries())
    files.push({ name: KEYS[i]!.join(' '), file: home.gpg('--export', fingerprint) });
  if (existsSync(KEYRINGS))
    for (const name of readdirSync(KEYRINGS).filter((one) => one.endsWith('.gpg') && !one.includes(REMOVED)))
      files.push({ name, file: readFileSync(`${KEYRINGS}/${name}`) });
}, 120_000);
afterAll(() => home.remove());

type Answer = ReadonlyMap<string, string> | 'refused';

const at = (end: number | 'never' | 'unknown'): string =>
  typeof end === 'number' && end < NOW.getTime() ? 'ended' : String(end);

function own(file: Buffer): Answer {
  try {
    return new Map(readKeyFile(file).keys.map(({ fingerprint, end }) => [fingerprint, at(end)]));
  } catch {
    return 'refused';
  }
}

async function endIn(key: Key): Promise<string> {
  try {
    await key.verifyPrimaryKey(NOW);
  } catch (error) {
    return /expired|revoked/.test(String(error)) ? 'ended' : 'unknown';
  }
  const end = await key.getExpirationTime();
  return end instanceof Date ? at(end.getTime()) : end === Infinity ? 'never' : 'unknown';
}

async function library(file: Buffer): Promise<Answer> {
  try {
    const keys = await readKeys({ binaryKeys: new Uint8Array(file) });
    const ends = keys.map(async (key) => [key.getFingerprint().toUpperCase(), await endIn(key)] as const);
    return new Map(await Promise.all(ends));
  } catch {
    return 'refused';
  }
}

test('says of keys of every algorithm, and of the repositories of this system, what the library says', async () => {
  expect(files.length).toBeGreaterThanOrEqual(KEYS.length);
  for (const { name, file } of files) {
    const answer = own(file);
    expect(answer, name).toEqual(await library(file));
    expect([...(answer as ReadonlyMap<string, string>).values()], name).not.toContain('unknown');
  }
  const ends = files
    .slice(0, KEYS.length)
    .map(({ file }) => [...(own(file) as ReadonlyMap<string, string>).values()][0]);
  expect(ends.map((end) => (/^\d+$/.test(end!) ? 'a time' : end))).toEqual(
    KEYS.map(([, lifetime], i) => (i === REVOKED ? 'ended' : lifetime === 'never' ? 'never' : 'a time')),
  );
});

/** Numbers that are the same in each run. */
function numbers(): (below: number) => number {
  let last = 20_261_128;
  return (below) => {
    last = (Math.imul(last, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (last >> 8) % below;
  };
}

/** A bit turned, an octet replaced, an octet left out, an octet put in, or the rest cut off. */
function mutated(file: Buffer, next: (below: number) => number): Buffer {
  const place = next(file.length);
  const [before, after] = [file.subarray(0, place), file.subarray(place + 1)];
  const octet = file[place]!;
  switch (next(5)) {
    case 0:
      return Buffer.concat([before, Buffer.from([octet ^ (1 << next(8))]), after]);
    case 1:
      return Buffer.concat([before, Buffer.from([next(256)]), after]);
    case 2:
      return Buffer.concat([before, after]);
    case 3:
      return Buffer.concat([before, Buffer.from([next(256), octet]), after]);
    default:
      return Buffer.from(before);
  }
}

const isKnown = (end: string | undefined): end is string => end !== undefined && end !== 'unknown';

/**
 * How the own answer about a mutated file compares with the library's. A known end must be the library's. Exceptions:
 * `unsigned`: what the end stands in is untouched, and the library stumbles over octets that no signature covers: the digest's first two,
 * the issuer's ID, or a signature of another key, for which it refuses the whole file. The own answer is that about the whole file. A
 * revocation that cannot be read is as good as one left out, which is in the power of the hand that changes a file.
 * `stricter`: kbuild refuses a file with a packet that it cannot read, which the library leaves out, and hashes a key as it stands in
 * the file, where the library writes it anew.
 */
function compared(file: Buffer, mine: Answer, theirs: Answer): 'same' | 'unsigned' | 'stricter' | 'wrong' {
  if (mine === 'refused') return theirs === 'refused' || ![...theirs.values()].some(isKnown) ? 'same' : 'stricter';
  const whole = own(file) as ReadonlyMap<string, string>;
  const verdicts = [...mine].map(([fingerprint, end]) => {
    const other = theirs === 'refused' ? undefined : theirs.get(fingerprint);
    if (isKnown(end))
      return end === other
        ? 'same'
        : [whole.get(fingerprint), unrevoked.get(fingerprint)].includes(end)
          ? 'unsigned'
          : 'wrong';
    return isKnown(other) ? 'stricter' : 'same';
  });
  return (['wrong', 'unsigned', 'stricter'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'same';
}

test('gives 200 mutated keys no end that the library does not give them', { timeout: 120_000 }, async () => {
  const next = numbers();
  const counts = { same: 0, unsigned: 0, stricter: 0, wrong: 0 };
  const wrong: string[] = [];
  for (let i = 0; i < 200; i++) {
    const { name, file } = files[next(files.length)]!;
    const mutant = mutated(file, next);
    const verdict = compared(file, own(mutant), await library(mutant));
    counts[verdict]++;
    if (verdict === 'wrong') wrong.push(`${name}: ${mutant.toString('base64')}`);
  }
  expect(wrong).toEqual([]);
  expect(counts.same, JSON.stringify(counts)).toBeGreaterThan(100);
});
