import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { revealed } from '../../src/shell/secret.ts';
import { inventoryOf, problemsOf } from './load.ts';

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

test('control planes get what they share by upload, unless copying is asked for', async () => {
  const distribution = async (text: string) => (await inventoryOf(text, FILES)).certificates.distribution;
  expect(await distribution(written('upload').replace('certificates: upload\n', ''))).toBe('upload');
  expect(await distribution(written('copy'))).toBe('copy');
  expect(await distribution(written('{ distribution: copy }'))).toBe('copy');
  expect(await distribution(authority('ca.crt', 'ca.key'))).toBe('upload');
});

test('a CA of the user’s is read with its key, which stays secret', async () => {
  const { certificates } = await inventoryOf(authority('ca.crt', 'ca.key'), FILES);
  expect(certificates.ca?.cert).toBe(FILES['ca.crt']);
  expect(revealed(certificates.ca!.key)).toBe(FILES['ca.key']);
  expect(JSON.stringify(certificates)).not.toContain('PRIVATE KEY');
});

describe('is refused', () => {
  test.each([
    ['a word that is none', written('coppy'), '2:15 certificates: must be one of upload, copy'],
    ['an unknown setting', written('{ distrbution: copy }'), '2:17 certificates.distrbution: unknown setting "distrbution"; did you mean "distribution"?'],
    ['a CA that is none', authority('leaf.crt', 'other.key'), '2:29 certificates.ca.cert: leaf.crt: is the certificate of CN=a leaf, which is no CA (basicConstraints)'],
    ['no certificate', authority('ca.key', 'ca.key'), '2:29 certificates.ca.cert: ca.key: holds no PEM certificate'],
    ['another key', authority('ca.crt', 'other.key'), '2:42 certificates.ca.key: is not the key of this certificate'],
    ['a key that kubeadm does not know', authority('ca.crt', 'ed25519.key'), '2:42 certificates.ca.key: is of the type ed25519; kubeadm knows RSA and ECDSA'],
    ['an encrypted key', authority('ca.crt', 'encrypted.key'), '2:42 certificates.ca.key: is encrypted; kubeadm needs it plain: decrypt it, e.g. by command:'],
    ['no key', authority('ca.crt', 'leaf.crt'), '2:42 certificates.ca.key: holds no PEM private key'],
    ['a missing file', authority('none.crt', 'ca.key'), '2:29 certificates.ca.cert: none.crt: there is no such file'],
  ])('%s', async (_, text, problem) => {
    expect(await problemsOf(text, FILES)).toEqual([problem]);
  }); // prettier-ignore

  test('a CA without its key, with all that kubeadm would need then', async () => {
    const [problem, ...more] = await problemsOf(written('{ ca: { cert: ca.crt } }'), FILES);
    expect(more).toEqual([]);
    expect(problem).toMatch(/^2:21 certificates\.ca\.key: is required.*external CA mode.*admin\.conf.*kubelet\.conf/);
  });
});
