/** Certificates of an etcd that kbuild built, made to run out soon, and read again. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as lab from './lab.ts';
import { attempt, run } from './run.ts';

const PKI = '/etc/kubernetes/pki';
const DAY_MS = 24 * 60 * 60_000;

/** Days that a certificate in a PEM text still holds. */
async function daysOf(pem: string): Promise<number> {
  const said = await run('openssl', ['x509', '-noout', '-enddate'], { input: pem });
  return Math.floor((Date.parse(said.trim().replace('notAfter=', '')) - Date.now()) / DAY_MS);
}

/** Days that a certificate file of a host still holds; its name is below /etc/kubernetes/pki, without `.crt`. */
export const daysLeft = async (host: string, name: string): Promise<number> =>
  daysOf((await lab.inside(host, `cat ${PKI}/${name}.crt`)).stdout);

/** Days that the certificate which a host's etcd really shows to its clients still holds. */
export async function daysServed(host: string): Promise<number> {
  const { address } = lab.hostSettings(host);
  const { stdout } = await attempt('openssl', ['s_client', '-connect', `${address}:2379`], { input: '' });
  return daysOf(stdout);
}

/**
 * Signs a host's certificate anew so that it holds for so many days only, with etcd's own authority, whose key is taken from
 * `signer`; subject, names and private key stay.
 */
export async function shorten(host: string, name: string, days: number, signer: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-leaf-'));
  const file = (one: string): string => join(folder, one);
  try {
    for (const [from, path, to] of [
      [signer, 'etcd/ca.crt', 'ca.crt'],
      [signer, 'etcd/ca.key', 'ca.key'],
      [host, `${name}.crt`, 'leaf.crt'],
      [host, `${name}.key`, 'leaf.key'],
    ] as const)
      writeFileSync(file(to), (await lab.inside(from, `cat ${PKI}/${path}`)).stdout, { mode: 0o600 });
    const request = [
      'x509',
      '-x509toreq',
      '-in',
      file('leaf.crt'),
      '-signkey',
      file('leaf.key'),
      '-copy_extensions',
      'copy',
    ];
    await run('openssl', [...request, '-out', file('leaf.csr')]);
    const sign = ['x509', '-req', '-in', file('leaf.csr'), '-CA', file('ca.crt'), '-CAkey', file('ca.key')];
    const more = ['-CAcreateserial', '-copy_extensions', 'copy', '-days', String(days), '-out', file('new.crt')];
    await run('openssl', [...sign, ...more]);
    await lab.inside(host, `cat > ${PKI}/${name}.crt`, await run('cat', [file('new.crt')]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
