/** Certificates that began long ago, as they are on hosts of an old cluster. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyPair } from './openssl.ts';
import { run } from './run.ts';

/** For `openssl ca`, which alone can make a certificate that began long ago. */
const CA_CONFIG = `[ca]
default_ca=own
[own]
database=index.txt
serial=serial.txt
new_certs_dir=.
default_md=sha256
policy=any
copy_extensions=copy
x509_extensions=leaf
[any]
organizationName=optional
commonName=supplied
[leaf]
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth
`;

const DAY_MS = 24 * 60 * 60_000;
const generalizedTime = (ms: number): string => new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-old-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Signs a request so that the certificate began 200 days ago and ends in so many days. PEM. */
export const signOld = (authority: KeyPair, request: string, daysLeft: number): Promise<string> =>
  inFolder(async (folder) => {
    for (const [name, content] of [
      ['ca.cnf', CA_CONFIG],
      ['old.csr', request],
      ['index.txt', ''],
      ['serial.txt', '0100'],
    ] as const)
      writeFileSync(join(folder, name), content);
    const now = Date.now();
    await run('sh', [
      '-c',
      'cd "$0" && exec openssl ca "$@"',
      folder,
      ...'-batch -notext -preserveDN -config ca.cnf -in old.csr -out old.crt'.split(' '),
      ...['-cert', authority.cert, '-keyfile', authority.key],
      ...['-startdate', generalizedTime(now - 200 * DAY_MS), '-enddate', generalizedTime(now + daysLeft * DAY_MS)],
    ]);
    return readFileSync(join(folder, 'old.crt'), 'utf8');
  });

/** A request for the same as a certificate says, by its private key. Both are PEM texts. */
export const requestAgain = (certificate: string, key: string): Promise<string> =>
  inFolder((folder) => {
    writeFileSync(join(folder, 'again.crt'), certificate);
    writeFileSync(join(folder, 'again.key'), key, { mode: 0o600 });
    return run('openssl', [
      ...['x509', '-x509toreq', '-copy_extensions', 'copy'],
      ...['-in', join(folder, 'again.crt'), '-signkey', join(folder, 'again.key')],
    ]);
  });
