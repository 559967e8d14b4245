import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hostKeyAlgorithms } from '../../src/ssh/host-key-guard.ts';
import {
  keyTypesOnFile,
  knownHostsReader,
  lookup,
  parseKnownHosts,
  recordHostKey,
  verdict,
} from '../../src/ssh/known-hosts.ts';

/** A key blob of a type; the number tells keys apart. */
function key(type: string, number: number): Buffer {
  const name = Buffer.from(type);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(name.length);
  return Buffer.concat([head, name, Buffer.from([0, 0, 0, 1, number])]);
}

const ed = key('ssh-ed25519', 1);
const other = key('ssh-ed25519', 2);
const rsa = key('ssh-rsa', 3);
const text = (blob: Buffer) => `${blob.toString('latin1', 4, 4 + blob.readUInt32BE(0))} ${blob.toString('base64')}`;

const judge = (file: string, shown: Buffer, address = 'node1', port = 22) =>
  verdict(lookup(parseKnownHosts(file, 'kh'))(address, port), shown);

test.each([
  ['a plain name', `node1 ${text(ed)}`],
  ['a name in a list', `a,node1,10.0.0.1 ${text(ed)} a comment`],
  ['any case', `Node1 ${text(ed)}`],
  ['a pattern', `node? ${text(ed)}`],
  ['a star', `*,!node2 ${text(ed)}`],
  ['CRLF', `# comment\r\nnode1 ${text(ed)}\r\n`],
  ['another key before it', `node1 ${text(other)}\nnode1 ${text(ed)}`],
  [
    'nonsense around it',
    `\n|||\nnode1\nnode1 ssh-ed25519\nnode1 ssh-ed25519 !!!\n@what node1 ${text(ed)}\nnode1 ${text(ed)}`,
  ],
])('known by %s', (_, file) => {
  expect(judge(file, ed)).toEqual({ kind: 'known' });
});

test.each([
  ['an empty file', ''],
  ['another name', `node10 ${text(ed)}`],
  ['a negated pattern', `node*,!node1 ${text(ed)}`],
  ['a dot that is no wildcard', `nod.1 ${text(ed)}`],
  ['a certificate authority', `@cert-authority * ${text(ed)}`],
  ['a type that is not the key’s', `node1 ssh-rsa ${ed.toString('base64')}`],
  ['another port', `[node1]:2222 ${text(ed)}`],
])('unknown by %s', (_, file) => {
  expect(judge(file, ed)).toEqual({ kind: 'unknown' });
});

test('changed names the line with the key of the same type, or any', () => {
  expect(judge(`node1 ${text(rsa)}\nnode1 ${text(other)}`, ed)).toEqual({ kind: 'changed', at: 'kh:2', onFile: other });
  expect(judge(`node1 ${text(rsa)}`, ed)).toEqual({ kind: 'changed', at: 'kh:1', onFile: rsa });
});

test('a revoked key is revoked, whatever else is on file', () => {
  expect(judge(`node1 ${text(ed)}\n@revoked * ${text(ed)}`, ed)).toEqual({ kind: 'revoked', at: 'kh:2' });
});

test('on another port a line of the bare name counts only where the bracketed name has no key', () => {
  const both = (bracketed: string) => `node1 ${text(ed)}\n${bracketed}`;
  const changed = { kind: 'changed', at: 'kh:2', onFile: other };
  expect(judge(both(`[node1]:2222 ${text(other)}`), ed, 'node1', 2222)).toEqual(changed);
  expect(judge(both(`[node1]:2222 ${text(rsa)}`), ed, 'node1', 2222)).toEqual({ ...changed, onFile: rsa });
  expect(judge(both(`[node1]:* ${text(other)}`), ed, 'node1', 2222)).toEqual(changed);
  expect(judge(both(`[node1]:22 ${text(other)}`), ed)).toEqual({ kind: 'known' });
  // Neither an authority nor another revoked key is a key of the bracketed name.
  expect(judge(both(`@cert-authority [node1]:2222 ${text(other)}`), ed, 'node1', 2222)).toEqual({ kind: 'known' });
  expect(judge(both(`@revoked [node1]:2222 ${text(other)}`), ed, 'node1', 2222)).toEqual({ kind: 'known' });
});

test('a key that is revoked under the bare name is refused on every port', () => {
  const file = `[node1]:2222 ${text(ed)}\n@revoked node1 ${text(ed)}`;
  expect(judge(file, ed, 'node1', 2222)).toEqual({ kind: 'revoked', at: 'kh:2' });
});

test('on another port the bracketed name counts; the bare name only helps to recognise', () => {
  expect(judge(`[node1]:2222 ${text(ed)}`, ed, 'node1', 2222)).toEqual({ kind: 'known' });
  expect(judge(`node1 ${text(ed)}`, ed, 'node1', 2222)).toEqual({ kind: 'known' });
  expect(judge(`node1 ${text(other)}`, ed, 'node1', 2222)).toEqual({ kind: 'unknown' });
  expect(judge(`[10.0.0.*]:2222 ${text(ed)}`, ed, '10.0.0.7', 2222)).toEqual({ kind: 'known' });
});

test('key types of known_hosts are offered first; an RSA key signs with SHA-2', () => {
  const types = (file: string) => keyTypesOnFile(lookup(parseKnownHosts(file, 'kh'))('node1', 22));
  expect(types(`node1 ${text(rsa)}\n@revoked node1 ${text(ed)}`)).toEqual(['ssh-rsa']);
  expect(hostKeyAlgorithms(['ssh-rsa']).slice(0, 3)).toEqual(['rsa-sha2-512', 'rsa-sha2-256', 'ssh-ed25519']);
  expect(hostKeyAlgorithms(['ssh-dss', 'ecdsa-sha2-nistp384'])[0]).toBe('ecdsa-sha2-nistp384');
});

test('names hashed by ssh-keygen are recognised', { tags: ['ssh'] }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-hashed-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'known_hosts');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')]);
  const [type, blob] = execFileSync('cat', [join(folder, 'key.pub')], { encoding: 'utf8' }).split(' ');
  writeFileSync(file, `node1 ${type!} ${blob!}\n[node1]:2222 ${type!} ${blob!}\n`);
  execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' });
  const hashed = execFileSync('cat', [file], { encoding: 'utf8' });
  expect(hashed).toMatch(/^\|1\|/);
  const shown = Buffer.from(blob!, 'base64');
  expect(judge(hashed, shown)).toEqual({ kind: 'known' });
  expect(judge(hashed, shown, 'node1', 2222)).toEqual({ kind: 'known' });
  expect(judge(hashed, shown, 'node2')).toEqual({ kind: 'unknown' });
  expect(judge(hashed, ed)).toMatchObject({ kind: 'changed', at: 'kh:1' });
});

test('files are read once for a whole fleet, and again when they have changed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-known-hosts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'known_hosts');
  const read = knownHostsReader();
  expect(read([file])('node1', 22).exact).toEqual([]);
  recordHostKey(file, 'node1', 22, ed);
  const first = read([file]);
  expect(read([file])).toBe(first);
  recordHostKey(file, 'node2', 22, other);
  expect(['node1', 'node2'].map((name) => read([file])(name, 22).exact.length)).toEqual([1, 1]);
});

test('a fleet of 3,000 hosts is looked up among its 3,000 lines in no time', () => {
  const names = Array.from({ length: 3000 }, (_, i) => `[10.1.${String(i >> 8)}.${String(i & 255)}]:2222`);
  const lines = parseKnownHosts(names.map((name) => `${name} ${text(ed)}\n`).join(''), 'kh');
  const from = process.cpuUsage();
  const find = lookup(lines);
  for (const name of names) expect(find(name.slice(1, -6), 2222).exact.length).toBe(1);
  // Each line tried for each host takes five seconds and more, of this process and not of what runs beside it.
  expect(process.cpuUsage(from).user / 1000).toBeLessThan(2000);
});
