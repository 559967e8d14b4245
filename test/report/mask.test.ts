import { expect, test } from 'vitest';
import { masker } from '../../src/report/mask.ts';
import { Secret } from '../../src/shell/secret.ts';

test('every secret of the inventory is masked, also in JSON, base64 and line by line', () => {
  const { text } = masker({ a: [{ password: Secret.of('can"ary\nsecond line') }] });
  expect(text('x can"ary y')).toBe('x (secret) y');
  expect(text(JSON.stringify({ v: 'can"ary' }))).toBe('{"v":"(secret)"}');
  expect(text(Buffer.from('second line').toString('base64'))).not.toContain('c2Vj');
  expect(text('second line')).toBe('(secret)');
});

test('a secret that becomes known later is masked from then on', () => {
  const mask = masker();
  mask.register(Secret.of('hunter2-hunter2'));
  expect(mask.value({ host: 'w1', deep: ['hunter2-hunter2!', 4, null] })).toEqual({
    host: 'w1',
    deep: ['(secret)!', 4, null],
  });
});

test.each([
  ['a bootstrap token', 'token abcdef.0123456789abcdef used', 'token (secret) used'],
  ['a certificate key', `key ${'a1'.repeat(32)}`, 'key (secret)'],
  ['a private key', 'a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb', 'a\n(secret)\nb'],
  ['a private key that was cut off', 'a -----BEGIN OPENSSH PRIVATE KEY-----\nMII', 'a (secret)'],
  ['a kubeconfig', 'client-key-data: LS0tLS1CRUdJTg==', 'client-key-data: (secret)'],
])('%s is masked wherever it came from', (_, given, expected) => {
  expect(masker().text(given)).toBe(expected);
});

test('a JSON document stays one, and keeps the hashes of files', () => {
  const facts = { key: '-----BEGIN PRIVATE KEY-----\nMII', files: { '/a': { sha256: 'c'.repeat(64) } } };
  const shown = masker().text(JSON.stringify(facts, undefined, 2));
  expect(JSON.parse(shown)).toEqual({ ...facts, key: '(secret)' });
});

test('digests and ordinary words stay', () => {
  const digest = `sha256:${'0'.repeat(64)} registry.k8s.io/pause@sha256:${'a'.repeat(64)} kubelet 1.36.3`;
  expect(masker({ short: Secret.of('k8s') }).text(digest)).toBe(digest);
});
