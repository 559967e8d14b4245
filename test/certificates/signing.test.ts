// @module-tag openssl
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certified, pemBytes, requested } from '../../src/certificates/certificate.value.ts';
import { signedCertificate, type SigningAuthority } from '../../src/certificates/signing-command.value.ts';
import type { SigningRequest } from '../../src/inventory/control-plane.ts';

const KUBELET = [['O=system:nodes', 'CN=system:node:w1']];
const SERVER = [['CN=kube-apiserver']];
const NAMES = 'subjectAltName=DNS:cp1,DNS:kubernetes,IP:10.0.0.11,IP:fd00::1';

let folder: string;
const file = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(file(name), 'utf8');
/** Runs openssl; the words of `line` have no spaces in them, those of `more` may. */
const openssl = (line: string, ...more: readonly string[]): void =>
  void execFileSync('openssl', [...line.split(' '), ...more], { cwd: folder, stdio: 'pipe' });
const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

function authority(name: string, more: readonly string[] = []): void {
  const usage = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'].flatMap((one) => [
    '-addext',
    one,
  ]);
  openssl(`req -x509 ${NEW_KEY} -days 365 -keyout ${name}.key -out ${name}.crt -subj /CN=${name}`, ...usage, ...more);
}

function request(name: string, subject: string, names?: string): void {
  const extensions = names === undefined ? [] : ['-addext', names];
  openssl(`req -new ${NEW_KEY} -keyout ${name}.key -out ${name}.csr -subj`, subject, ...extensions);
}

interface Signing {
  readonly ca?: string;
  readonly days?: number;
  readonly usage?: string;
  readonly basic?: string;
  readonly names?: string;
  readonly more?: readonly string[];
}

/** Signs a request as a user's command would, right unless told otherwise. */
function sign(
  name: string,
  { ca = 'ca', days = 90, usage = 'clientAuth', basic = 'CA:FALSE', names, more = [] }: Signing = {},
): string {
  writeFileSync(file('extensions'), `extendedKeyUsage=${usage}\nbasicConstraints=${basic}\n${names ?? ''}`);
  const copy = names === undefined ? ['-copy_extensions', 'copy'] : [];
  const authorityOf = `-CA ${ca}.crt -CAkey ${ca}.key -set_serial 7 -days ${String(days)}`;
  openssl(`x509 -req -in ${name}.csr ${authorityOf} -extfile extensions -out signed.crt`, ...copy, ...more);
  return read('signed.crt');
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-signing-'));
  authority('ca');
  authority('other');
  // The same name, another key: what only the signature tells apart.
  openssl(`req -x509 ${NEW_KEY} -days 365 -keyout twin.key -out twin.crt -subj /CN=ca`);
  request('kubelet', '/O=system:nodes/CN=system:node:w1');
  request('another', '/O=system:nodes/CN=system:node:w1');
  request('master', '/O=system:masters/CN=system:node:w1');
  request('server', '/CN=kube-apiserver', NAMES);
});
afterAll(() => rmSync(folder, { recursive: true }));

const having = (name: string, profile: SigningRequest['profile'], printed: () => Promise<string>, nowMs = Date.now) => {
  const ca: SigningAuthority = { cert: read('ca.crt'), sign: printed, setting: 'certificates.ca' };
  const asked = { host: 'w1', certificate: 'kubelet.conf', profile, request: read(`${name}.csr`) };
  return signedCertificate(ca, asked, profile === 'client' ? KUBELET : SERVER, nowMs);
};
const kubelet = (options?: Signing, name = 'kubelet') =>
  having('kubelet', 'client', () => Promise.resolve(sign(name, options)));
const server = (options: Signing) =>
  having('server', 'server', () => Promise.resolve(sign('server', { usage: 'serverAuth', ...options })));

describe('a request', () => {
  test('has the subject, names and key of its certificate', () => {
    const asked = requested(read('server.csr'));
    expect(asked.subject).toEqual(['CN=kube-apiserver']);
    expect(asked.names).toEqual(['DNS:cp1', 'DNS:kubernetes', 'IP:10.0.0.11', 'IP:fd00::1']);
    expect(certified(pemBytes(sign('server'), 'CERTIFICATE')!)).toEqual(asked);
    expect(requested(read('kubelet.csr'))).toMatchObject({
      subject: ['CN=system:node:w1', 'O=system:nodes'],
      names: [],
    });
  });

  test.each([
    ['nothing', ''],
    ['no DER', '-----BEGIN CERTIFICATE REQUEST-----\nQUJDRA==\n-----END CERTIFICATE REQUEST-----'],
    ['one that is cut off', '-----BEGIN CERTIFICATE REQUEST-----\nMIIBIjCB\n-----END CERTIFICATE REQUEST-----'],
  ])('that is %s is refused', async (_, text) => {
    const never = () => Promise.reject(new Error('was asked'));
    const asked = { host: 'w1', certificate: 'kubelet.conf', profile: 'client', request: text } as const;
    await expect(
      signedCertificate({ cert: read('ca.crt'), sign: never, setting: 'certificates.ca' }, asked, KUBELET),
    ).rejects.toThrow('w1: refused: its request for kubelet.conf cannot be read');
  });

  test('for a subject that the host may not have never reaches the signing command', async () => {
    const never = () => Promise.reject(new Error('was asked'));
    await expect(having('master', 'client', never)).rejects.toThrow(
      'it asks for the subject CN=system:node:w1, O=system:masters in kubelet.conf, and may have CN=system:node:w1, O=system:nodes there',
    );
    request('named', '/O=system:nodes/CN=system:node:w1', 'subjectAltName=DNS:cp1');
    await expect(having('named', 'client', never)).rejects.toThrow('it asks for the names DNS:cp1 in kubelet.conf');
  });
});

describe('a certificate', () => {
  test('that matches its request is accepted, the first of a chain', async () => {
    const right = await kubelet();
    expect(right).toBe(read('signed.crt'));
    expect(
      await having('kubelet', 'client', () => Promise.resolve(`log line\n${sign('kubelet')}${read('other.crt')}`)),
    ).toBe(read('signed.crt'));
    expect(await kubelet({ usage: 'serverAuth,clientAuth' })).toBe(read('signed.crt'));
    expect(await server({})).toBe(read('signed.crt'));
    const member = () => Promise.resolve(sign('server', { usage: 'serverAuth,clientAuth' }));
    expect(await having('server', 'peer', member)).toBe(read('signed.crt'));
  });

  test.each([
    [
      'of another authority',
      () => kubelet({ ca: 'other' }),
      'did not sign with certificates.ca.cert (issuer: CN=other)',
    ],
    [
      'of an authority with the same name',
      () => kubelet({ ca: 'twin' }),
      'did not sign with certificates.ca.cert (issuer: CN=ca)',
    ],
    ['for another key', () => kubelet({}, 'another'), 'certified another public key'],
    [
      'for another subject',
      () => kubelet({ more: ['-force_pubkey', 'kubelet.pub'] }, 'master'),
      'certified the subject CN=system:node:w1, O=system:masters instead of CN=system:node:w1, O=system:nodes',
    ],
    [
      'without the names',
      () => server({ names: 'subjectAltName=DNS:cp1' }),
      'certified the names DNS:cp1 instead of DNS:cp1, ',
    ],
    [
      'with a name too many',
      () => kubelet({ names: 'subjectAltName=DNS:cp1' }),
      'certified the names DNS:cp1 instead of none',
    ],
    ['for the wrong use', () => kubelet({ usage: 'serverAuth' }), 'left out the extended key usage clientAuth'],
    [
      'of a member of etcd that cannot be a client',
      () => having('server', 'peer', () => Promise.resolve(sign('server', { usage: 'serverAuth' }))),
      'left out the extended key usage clientAuth',
    ],
    ['that is an authority', () => kubelet({ basic: 'CA:TRUE' }), 'made a certificate of an authority'],
    ['that ends soon', () => kubelet({ days: 30 }), 'made it valid until'],
    [
      'that begins tomorrow',
      () =>
        having(
          'kubelet',
          'client',
          () => Promise.resolve(sign('kubelet')),
          () => Date.now() - 86_400_000,
        ),
      'made it valid from',
    ],
    [
      'that is none',
      () => having('kubelet', 'client', () => Promise.resolve('permission denied\n')),
      'printed no PEM certificate',
    ],
    [
      'that is broken',
      () =>
        having('kubelet', 'client', () =>
          Promise.resolve('-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----'),
        ),
      'printed a certificate that cannot be read',
    ],
  ])('%s is refused with host, certificate and reason', async (_, made, reason) => {
    openssl('pkey -in kubelet.key -pubout -out kubelet.pub');
    await expect(made()).rejects.toThrow(
      `w1: refused: the certificate kubelet.conf of w1: certificates.ca.sign ${reason}`,
    );
  });

  test('that the command did not sign is refused with the command’s output', async () => {
    const failing = () => Promise.reject(new Error('exit status 1\nno such slot'));
    await expect(having('kubelet', 'client', failing)).rejects.toMatchObject({
      exitCode: 7,
      message:
        'w1: refused: the certificate kubelet.conf of w1 was not signed: certificates.ca.sign: exit status 1\nno such slot',
    });
  });
});
