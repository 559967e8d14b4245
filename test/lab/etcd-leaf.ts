/** Certificates of an etcd that kbuild built, made to run out soon, and read again. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as lab from './lab.ts';
import { requestAgain, signOld } from './old-certificate.ts';
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
  const read = async (from: string, path: string): Promise<string> =>
    (await lab.inside(from, `cat ${PKI}/${path}`)).stdout;
  const authority = { cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') };
  try {
    writeFileSync(authority.cert, await read(signer, 'etcd/ca.crt'));
    writeFileSync(authority.key, await read(signer, 'etcd/ca.key'), { mode: 0o600 });
    const request = await requestAgain(await read(host, `${name}.crt`), await read(host, `${name}.key`));
    await lab.inside(host, `cat > ${PKI}/${name}.crt`, await signOld(authority, request, days));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
