import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { revealed } from '../../src/shell/secret.ts';
import { inventoryOf, load, problemsOf, shown } from './load.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../fixtures/authority/${name}`, import.meta.url), 'utf8');
const FILES = Object.fromEntries(
  ['ca.crt', 'ca.key', 'other.key', 'leaf.crt', 'ed25519.key', 'encrypted.key'].map((name) => [name, fixture(name)]),
);
const written = (certificates: string): string => `name: prod
certificates: ${certificates}
kubernetes: { version: "1.36.3" }
hosts: [{ name: cp1, address: 203.0.113.11, role: control-plane }]
`;
const authority = (cert: string, key: string): string => written(`{ ca: { cert: ${cert}, key: "file:${key}" } }`);

test('control planes get shared certificates by upload, unless the inventory says copy', async () => {
  const distribution = async (text: string) => (await inventoryOf(text, FILES)).certificates.distribution;
  expect(await distribution(written('upload').replace('certificates: upload\n', ''))).toBe('upload');
  expect(await distribution(written('copy'))).toBe('copy');
  expect(await distribution(written('{ distribution: copy }'))).toBe('copy');
  expect(await distribution(authority('ca.crt', 'ca.key'))).toBe('upload');
});

test('the inventory’s CA is read with its key, which stays secret', async () => {
  const { certificates } = await inventoryOf(authority('ca.crt', 'ca.key'), FILES);
  expect(certificates.ca?.cert).toBe(FILES['ca.crt']);
  expect(certificates.ca).toHaveProperty('key');
  if ('key' in certificates.ca!) expect(revealed(certificates.ca.key)).toBe(FILES['ca.key']);
  expect(JSON.stringify(certificates)).not.toContain('PRIVATE KEY');
});

test('a CA that signs elsewhere is a command: requests on its input, one at a time, and what they are for in its environment', async () => {
  const calls: string[] = [];
  let running = 0;
  const filter = async (command: string, input: string, variables: Readonly<Record<string, string>>) => {
    running += 1;
    calls.push(
      `${command} ${input} ${Object.entries(variables)
        .map((pair) => pair.join('='))
        .join(' ')} (${String(running)})`,
    );
    await Promise.resolve();
    running -= 1;
    if (input === 'BAD') throw new Error('exit status 1');
    return `signed ${input}`;
  };
  const { certificates } = await inventoryOf(written('{ ca: { cert: ca.crt, sign: ./sign } }'), FILES, { filter });
  expect(certificates.distribution).toBe('copy');
  if (certificates.ca === undefined || !('sign' in certificates.ca)) throw new Error('no signing command');
  const { sign } = certificates.ca;
  const ask = (request: string, profile: 'client' | 'server') =>
    sign({ host: 'cp1', certificate: 'apiserver', profile, request });
  const [one, bad, two] = await Promise.allSettled([ask('A', 'server'), ask('BAD', 'client'), ask('B', 'client')]);
  expect(one).toEqual({ status: 'fulfilled', value: 'signed A' });
  expect(bad.status).toBe('rejected');
  expect(two).toEqual({ status: 'fulfilled', value: 'signed B' });
  const said = 'KBUILD_CLUSTER=prod KBUILD_HOST=cp1 KBUILD_CERTIFICATE=apiserver KBUILD_PROFILE';
  expect(calls).toEqual([
    `./sign A ${said}=server (1)`,
    `./sign BAD ${said}=client (1)`,
    `./sign B ${said}=client (1)`,
  ]);
});

test('validating an inventory runs no signing command', async () => {
  const { certificates } = await inventoryOf(written('{ ca: { cert: ca.crt, sign: ./sign } }'), FILES);
  if (certificates.ca === undefined || !('sign' in certificates.ca)) throw new Error('no signing command');
  await expect(
    certificates.ca.sign({ host: 'cp1', certificate: 'apiserver', profile: 'server', request: '' }),
  ).rejects.toThrow('no command may be run');
});

describe('is refused', () => {
  test.each([
    ['a word that is none', written('coppy'), '2:15 certificates: must be one of upload, copy'],
    [
      'an unknown setting',
      written('{ distrbution: copy }'),
      '2:17 certificates.distrbution: unknown setting "distrbution"; did you mean "distribution"?',
    ],
    [
      'a CA that is none',
      authority('leaf.crt', 'other.key'),
      '2:29 certificates.ca.cert: leaf.crt: is the certificate of CN=a leaf, which is no CA (basicConstraints)',
    ],
    ['no certificate', authority('ca.key', 'ca.key'), '2:29 certificates.ca.cert: ca.key: holds no PEM certificate'],
    ['another key', authority('ca.crt', 'other.key'), '2:42 certificates.ca.key: is not the key of this certificate'],
    [
      'a key that kubeadm does not know',
      authority('ca.crt', 'ed25519.key'),
      '2:42 certificates.ca.key: is of the type ed25519; kubeadm knows RSA and ECDSA',
    ],
    [
      'an encrypted key',
      authority('ca.crt', 'encrypted.key'),
      '2:42 certificates.ca.key: is encrypted; kubeadm needs it plain: decrypt it, e.g. by command:',
    ],
    ['no key', authority('ca.crt', 'leaf.crt'), '2:42 certificates.ca.key: holds no PEM private key'],
    ['a missing file', authority('none.crt', 'ca.key'), '2:29 certificates.ca.cert: none.crt: there is no such file'],
  ])('%s', async (_, text, problem) => {
    expect(await problemsOf(text, FILES)).toEqual([problem]);
  });

  test.each([
    [
      'a CA without key and signer',
      '{ ca: { cert: ca.crt } }',
      '2:21 certificates.ca.key: is required: env:NAME, file:PATH or command:COMMAND; or sign: COMMAND, where the key must stay with you (an HSM, Vault, step-ca)',
    ],
    [
      'a CA that two sign with',
      '{ ca: { cert: ca.crt, key: "file:ca.key", sign: ./sign } }',
      '2:63 certificates.ca.sign: stands instead of key: name one of them',
    ],
    [
      'an upload without the key',
      '{ distribution: upload, ca: { cert: ca.crt, sign: ./sign } }',
      '2:31 certificates.distribution: must be copy (or left out) beside ca.sign: kubeadm does not upload certificates without the key of their CA',
    ],
  ])('%s', async (_, certificates, problem) => {
    expect(await problemsOf(written(certificates), FILES)).toEqual([problem]);
  });

  test('a Windows host, if no component of the cluster signs for kubelets', async () => {
    const text = `${written('{ ca: { cert: ca.crt, sign: ./sign } }').trimEnd().replace(/\]$/, '')}, { name: win1, address: 203.0.113.31, role: worker, os: windows }]\n`;
    expect(await problemsOf(text, FILES)).toEqual([
      expect.stringMatching(/hosts\[1\]\.os: win1: Windows hosts cannot join where certificates\.ca\.sign signs/),
    ]);
  });
});

describe('authorities of etcd and of the front proxy', () => {
  const twoHosts = (certificates: string, more = ''): string =>
    `${written(certificates).replace('role: control-plane }]', 'role: control-plane }, { name: e1, address: 203.0.113.21, role: etcd }]')}${more}`;

  test('are read with their keys or commands; one command never runs twice at a time', async () => {
    let running = 0;
    let most = 0;
    const filter = async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return 'signed';
    };
    const own = '{ etcdCa: { cert: ca.crt, sign: ./sign }, frontProxyCa: { cert: ca.crt, sign: ./sign } }';
    const { certificates } = await inventoryOf(written(own), FILES, { filter });
    expect(certificates).toMatchObject({ distribution: 'copy', etcdCa: { cert: FILES['ca.crt'] } });
    const { etcdCa, frontProxyCa } = certificates;
    if (etcdCa === undefined || !('sign' in etcdCa) || frontProxyCa === undefined || !('sign' in frontProxyCa))
      throw new Error('no signing command');
    const request = { host: 'cp1', certificate: 'etcd-peer', profile: 'peer', request: 'R' } as const;
    await Promise.all([etcdCa.sign(request), frontProxyCa.sign(request), etcdCa.sign(request)]);
    expect(most).toBe(1);
    expect(certificates.ca).toBeUndefined();
  });

  test.each([
    [
      'an authority of etcd beside your own etcd',
      written('{ etcdCa: { cert: ca.crt, key: "file:ca.key" } }').replace(
        'hosts:',
        'etcd: { topology: external, endpoints: ["https://10.0.0.41:2379"], ca: ca.crt, cert: leaf.crt, key: "file:leaf.key" }\nhosts:',
      ),
      'certificates.etcdCa: is for an etcd that kbuild builds, and etcd.endpoints names yours: its CA is etcd.ca; take one of them out',
    ],
    [
      'a command for an etcd on hosts of its own',
      twoHosts('{ etcdCa: { cert: ca.crt, sign: ./sign } }', 'etcd: { topology: external }\n'),
      'certificates.etcdCa.sign: signs for stacked etcd only: hosts of role etcd sign their certificates themselves; give certificates.etcdCa a key instead',
    ],
    [
      'an upload without the key of the front proxy',
      written('{ distribution: upload, frontProxyCa: { cert: ca.crt, sign: ./sign } }'),
      'certificates.distribution: must be copy (or left out) beside frontProxyCa.sign: kubeadm does not upload certificates without the key of their CA',
    ],
    [
      'an authority of etcd that is none',
      written('{ etcdCa: { cert: leaf.crt, key: "file:other.key" } }'),
      'certificates.etcdCa.cert: leaf.crt: is the certificate of CN=a leaf, which is no CA (basicConstraints)',
    ],
    [
      'one without key and command',
      written('{ frontProxyCa: { cert: ca.crt } }'),
      'certificates.frontProxyCa.key: is required: env:NAME, file:PATH or command:COMMAND; or sign: COMMAND, where the key must stay with you (an HSM, Vault, step-ca)',
    ],
  ])('%s is refused', async (_, text, problem) => {
    const found = await problemsOf(text, FILES);
    expect(found.map((one) => one.replace(/^\S+ /, ''))).toContain(problem);
  });
});

describe('how long certificates are valid', () => {
  const lasting = (setting: string, period: string): string =>
    `${written('copy')}kubeadm: { cluster: { ${setting}: ${period} } }\n`;
  const settings = ['certificateValidityPeriod', 'caCertificateValidityPeriod'];

  test.each(settings)('%s is a duration of Go', async (setting) => {
    for (const period of ['8760h', '8760h0m0s', '525600m', '87600h'])
      expect(await problemsOf(lasting(setting, period), FILES), period).toEqual([]);
  });

  test('is as short as a lab needs it, and a hundred years at most', async () => {
    const both = (leaf: string, authority: string) =>
      `${written('copy')}kubeadm: { cluster: { certificateValidityPeriod: ${leaf}, caCertificateValidityPeriod: ${authority} } }\n`;
    expect(await problemsOf(both('10m', '600s'), FILES)).toEqual([]);
    expect(await problemsOf(both('876000h', '876000h'), FILES)).toEqual([]);
  });

  test.each([
    ['caCertificateValidityPeriod', '8759h', true],
    ['caCertificateValidityPeriod', '8760h', false],
    ['certificateValidityPeriod', '87601h', true],
    ['certificateValidityPeriod', '87600h', false],
  ])('is a warning where they outlive their authority: %s: %s: %s', async (setting, period, warns) => {
    const { warnings } = await load(lasting(setting, period), FILES);
    expect(/ is longer than caCertificateValidityPeriod \(\d+h\)/.test(warnings.map(shown).join())).toBe(warns);
  });

  test.each(settings)(
    '%s from which the next certificate has ended, or that kubeadm cannot read, is refused',
    async (setting) => {
      for (const period of ['0h', '9m59s', '-1h', '1y', '365d', '""', '31536000', '876001h', 'true'])
        expect(await problemsOf(lasting(setting, period), FILES), period).toEqual([
          expect.stringContaining(`kubeadm.cluster.${setting}: must be hours, minutes or seconds`),
        ]);
    },
  );
});
