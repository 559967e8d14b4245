import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archived, type PartToWrite, textPart } from '../../src/backup/archive.ts';
import { encrypted, type Lock } from '../../src/backup/encryption.ts';
import { type Manifest, SNAPSHOT } from '../../src/backup/manifest.ts';
import { spkiFingerprint } from '../../src/certificates/fingerprint.value.ts';
import { findProgram } from '../needs/table.ts';

/** An authority with its key, PEM. */
export interface FakeAuthority {
  readonly cert: string;
  readonly key: string;
}

const fixture = (): FakeAuthority => {
  const read = (name: string) => readFileSync(new URL(`../fixtures/authority/${name}`, import.meta.url), 'utf8');
  return { cert: read('ca.crt'), key: read('ca.key') };
};

/** A new self-signed authority; without openssl that of the fixtures, for tests that are skipped then. */
export function authority(name: string): FakeAuthority {
  if (findProgram('openssl') === undefined) return fixture();
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  const at = (file: string): string => join(folder, file);
  execFileSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout ${at('key')} -out ${at('crt')} -subj /CN=${name} -addext basicConstraints=critical,CA:TRUE`.split(
      ' ',
    ),
    { stdio: 'pipe' },
  );
  return { cert: readFileSync(at('crt'), 'utf8'), key: readFileSync(at('key'), 'utf8') };
}

export const ca = authority('kubernetes');
export const frontProxy = authority('front-proxy-ca');
export const etcd = authority('etcd-ca');

/** The parts of a backup, all of them small. */
export const partsOf = (over: Readonly<Record<string, string>> = {}): readonly PartToWrite[] =>
  Object.entries({
    'pki/ca.crt': ca.cert,
    'pki/ca.key': ca.key,
    'pki/front-proxy-ca.crt': frontProxy.cert,
    'pki/front-proxy-ca.key': frontProxy.key,
    'pki/etcd/ca.crt': etcd.cert,
    'pki/etcd/ca.key': etcd.key,
    'pki/sa.key': 'private',
    'pki/sa.pub': 'public',
    'inventory.yaml': 'name: demo\n',
    [SNAPSHOT]: `data of etcd\n${ca.cert}`,
    ...over,
  }).map(([name, text]) => textPart(name, text));

/** The manifest of these parts. */
export const manifestOf = (over: Partial<Manifest> = {}, parts = partsOf()): Manifest => ({
  format: 'kbuild-backup',
  formatVersion: 1,
  kbuild: '0.1.0',
  cluster: 'demo',
  taken: '2026-11-21T16:50:45.000Z',
  kubernetes: '1.36.3',
  endpoint: 'api.example.com:6443',
  ca: spkiFingerprint(ca.cert),
  frontProxyCa: spkiFingerprint(frontProxy.cert),
  etcdCa: spkiFingerprint(etcd.cert),
  etcd: {
    topology: 'stacked',
    revision: 7,
    keys: 5,
    version: '3.6.0',
    members: [{ name: 'old1', peerUrl: 'https://10.9.0.1:2380' }],
  },
  through: 'old1',
  controlPlanes: [{ name: 'old1', address: '10.9.0.1' }],
  workers: ['w1'],
  configuration: {},
  files: [],
  parts: parts.map(({ part }) => part),
  ...over,
});

/** All bytes of a stream. */
export async function bytesOf(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A stream in chunks of an odd size. */
export async function* streamOf(bytes: Uint8Array, size = 1_000): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

/** The archive of a backup, not encrypted. */
export const plainBackup = (manifest = manifestOf(), parts = partsOf()): Promise<Buffer> =>
  bytesOf(archived(manifest, parts, 1_800_000_000_000));

/** A backup in a local file: these bytes, encrypted. */
export async function backupFile(lock: Lock, plain: Uint8Array): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'kbuild-test-')), 'demo.age');
  writeFileSync(file, await bytesOf(await encrypted(streamOf(plain), lock)));
  return file;
}
