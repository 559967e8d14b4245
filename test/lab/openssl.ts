/** Certificates of a test's own, as users make theirs. */
import { join } from 'node:path';
import { run } from './run.ts';

/** Where one certificate and its key lie. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

const NEW = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '365'];

const pair = (folder: string, name: string): KeyPair => ({
  cert: join(folder, `${name}.crt`),
  key: join(folder, `${name}.key`),
});

/** A CA of this name. */
export async function makeAuthority(folder: string, name: string): Promise<KeyPair> {
  const made = pair(folder, name);
  const usage = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature'];
  await run('openssl', [
    ...NEW,
    ...['-keyout', made.key, '-out', made.cert, '-subj', `/CN=${name}`],
    ...usage.flatMap((value) => ['-addext', value]),
  ]);
  return made;
}

/** A certificate for servers and clients alike, signed by an authority. `names`: e.g. `IP:10.77.0.11`. */
export async function makeLeaf(
  folder: string,
  name: string,
  authority: KeyPair,
  names: readonly string[] = [],
): Promise<KeyPair> {
  const made = pair(folder, name);
  const extensions = [
    'basicConstraints=critical,CA:FALSE',
    'extendedKeyUsage=serverAuth,clientAuth',
    ...(names.length === 0 ? [] : [`subjectAltName=${names.join(',')}`]),
  ];
  await run('openssl', [
    ...NEW,
    ...['-keyout', made.key, '-out', made.cert, '-subj', `/CN=${name}`, '-CA', authority.cert, '-CAkey', authority.key],
    ...extensions.flatMap((value) => ['-addext', value]),
  ]);
  return made;
}
