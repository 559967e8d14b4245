// @module-tag gpg
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyEnd, readKeyFile } from '../../../src/host/packages/openpgp.value.ts';
import { gpgHome, type GpgHome } from '../../fakes/gpg.ts';

let home: GpgHome;
let fingerprints: readonly string[] = [];

const KEYS: readonly (readonly [algorithm: string, use: string, lifetime: string])[] = [
  ['rsa2048', 'default', 'never'],
  ['ed25519', 'sign', '40d'],
  ['nistp256', 'sign', '2y'],
  ['nistp384', 'sign', '3d'],
  ['rsa2048', 'cert', 'never'],
];

beforeAll(() => {
  home = gpgHome();
  for (const [i, [algorithm, use, lifetime]] of KEYS.entries())
    home.gpg('--passphrase', '', '--quick-gen-key', `key${String(i)}@example.com`, algorithm, use, lifetime);
  fingerprints = home.fingerprints();
});
afterAll(() => home.remove());

const armouredKey = (i: number): Buffer => home.gpg('--armor', '--export', fingerprints[i]!);
const found = (file: Buffer): readonly string[] => readKeyFile(file).keys.map(({ fingerprint }) => fingerprint);

/** What gpg lists for the primary keys of a file. */
const gpgEnds = (file: Buffer): readonly KeyEnd[] =>
  [...home.read(file, '--with-colons', '--show-keys').matchAll(/^pub:(?:[^:]*:){5}(\d*):/gm)].map(([, seconds]) =>
    seconds === '' ? 'never' : Number(seconds) * 1000,
  );

describe('a key file', () => {
  test('has the fingerprints that gpg prints, armoured or binary', () => {
    expect(fingerprints).toHaveLength(KEYS.length);
    expect(found(home.gpg('--export'))).toEqual(fingerprints);
    expect(found(home.gpg('--armor', '--export'))).toEqual(fingerprints);
  });

  test('is read whole: several armour blocks, several keys in a block, text around them', () => {
    const two = home.gpg('--armor', '--export', fingerprints[1]!, fingerprints[2]!);
    const file = Buffer.concat([Buffer.from('Our key:\n'), armouredKey(0), Buffer.from('\nand\r\n'), two]);
    expect(found(file)).toEqual(fingerprints.slice(0, 3));
    expect(found(Buffer.from(file.toString().replaceAll('\n', '\r\n')))).toEqual(fingerprints.slice(0, 3));
    expect(
      found(Buffer.concat([home.gpg('--export', fingerprints[0]!), home.gpg('--export', fingerprints[3]!)])),
    ).toEqual([fingerprints[0], fingerprints[3]]);
  });

  test('is copied as exactly the packets that were read', () => {
    const file = Buffer.concat([armouredKey(0), Buffer.from('hidden text\n')]);
    const { armoured, keys } = readKeyFile(file);
    expect(readKeyFile(Buffer.from(armoured))).toEqual({ armoured, keys });
    expect(armoured).not.toContain('hidden');
    expect(home.read(Buffer.from(armoured), '--dearmor')).toBe(home.read(armouredKey(0), '--dearmor'));
    expect(home.read(Buffer.from(armoured), '--with-colons', '--show-keys')).toContain(fingerprints[0]);
  });

  test('that is none is refused', () => {
    const binary = home.gpg('--export');
    const secret = home.gpg(
      '--passphrase',
      '',
      '--pinentry-mode',
      'loopback',
      '--export-secret-keys',
      fingerprints[0]!,
    );
    expect(() => readKeyFile(Buffer.from('<html>not found</html>'))).toThrow('not an OpenPGP key');
    expect(() => readKeyFile(Buffer.alloc(0))).toThrow('not an OpenPGP key');
    expect(() => readKeyFile(binary.subarray(0, 100))).toThrow('cut off');
    expect(() => readKeyFile(binary.subarray(0, 1))).toThrow('cut off');
    expect(() => readKeyFile(armouredKey(0).subarray(0, 400))).toThrow('cut off');
    expect(() => readKeyFile(Buffer.concat([binary, secret]))).toThrow('packet of type 5');
    expect(() => readKeyFile(Buffer.concat([Buffer.from([0xb4, 1, 0x61]), binary]))).toThrow('belongs to no key');
  });
});

describe('when a key runs out', () => {
  test('is what gpg lists, for every algorithm', () => {
    const file = home.gpg('--export');
    const ends = readKeyFile(file).keys.map(({ end }) => end);
    expect(ends).toEqual(gpgEnds(file));
    expect(ends.map((end) => typeof end)).toEqual(['string', 'number', 'number', 'number', 'string']);
  });

  test('is what the newest self-signature says: extended, shortened, never', () => {
    const before = home.gpg('--export', fingerprints[1]!);
    home.gpg('--quick-add-uid', fingerprints[1]!, 'again@example.com');
    for (const [i, lifetime] of ['3y', '10d', 'never', '50d'].entries()) {
      // Two signatures of one second have no order.
      const time = `${new Date(Date.now() + (i + 1) * 60_000).toISOString().replaceAll(/[-:]|\.\d+Z/g, '')}!`;
      home.gpg('--faked-system-time', time, '--quick-set-expire', fingerprints[1]!, lifetime);
      const after = home.gpg('--export', fingerprints[1]!);
      const { end } = readKeyFile(after).keys[0]!;
      expect(end, lifetime).toEqual(gpgEnds(after)[0]);
      expect(end).not.toEqual(readKeyFile(before).keys[0]!.end);
    }
  });

  test('is the end of its signing subkey where the key itself only certifies', () => {
    home.gpg('--passphrase', '', '--quick-add-key', fingerprints[4]!, 'rsa2048', 'sign', '10d');
    const { end } = readKeyFile(home.gpg('--export', fingerprints[4]!)).keys[0]!;
    expect(Math.abs(Number(end) - Date.now() - 10 * 24 * 60 * 60_000)).toBeLessThan(60 * 60_000);
  });

  test('is when it was revoked', () => {
    home.gpg('--passphrase', '', '--quick-gen-key', 'revoked@example.com', 'ed25519', 'sign', 'never');
    const fingerprint = home.fingerprints().at(-1)!;
    expect(readKeyFile(home.gpg('--export', fingerprint)).keys[0]!.end).toBe('never');
    home.revoke(fingerprint);
    const { end } = readKeyFile(home.gpg('--export', fingerprint)).keys[0]!;
    expect(Math.abs(Number(end) - Date.now())).toBeLessThan(60_000);
  });

  test('is not what a revoked user ID says', () => {
    home.gpg('--passphrase', '', '--quick-gen-key', 'left@example.com', 'ed25519', 'sign', '40d');
    const fingerprint = home.fingerprints().at(-1)!;
    home.gpg('--quick-add-uid', fingerprint, 'stays@example.com');
    home.gpg('--quick-revoke-uid', fingerprint, 'left@example.com');
    const file = home.gpg('--export', fingerprint);
    expect(readKeyFile(file).keys[0]!.end).toEqual(gpgEnds(file)[0]);
  });

  test('does not count a signature that the key has not made', () => {
    const file = home.gpg('--export', fingerprints[3]!);
    // One octet of the lifetime in the self-signature: type 9, four octets.
    const at = file.lastIndexOf(Buffer.from([5, 9]));
    const forged = Buffer.from(file);
    forged[at + 2] = 0x7f;
    expect(readKeyFile(forged).keys[0]!.end).toBe('unknown');
  });
});
