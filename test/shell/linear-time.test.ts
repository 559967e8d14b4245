import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isEncryptionConfiguration } from '../../src/backup/encryption.ts';
import { ufw } from '../../src/host/firewall.facts.ts';
import { firewalld } from '../../src/host/firewalld.facts.ts';
import { proxyVariables } from '../../src/host/machine.facts.ts';
import { readConnects } from '../../src/host/ports.survey.ts';
import { corefileWith } from '../../src/kubeadm/dns-blocks.step.ts';
import { diagnosis } from '../../src/report/failure.ts';
import { fullName } from '../../src/runtime/registries.value.ts';
import { unquoted, withoutEnd } from '../../src/shell/text.ts';
import { configClasses } from '../../src/ssh/ssh-config-answers.ts';
import { releaseOf, versionIn } from '../../src/versions.ts';
import { hasLinearTime } from '../tools/linear-time.ts';

const file = join(mkdtempSync(join(tmpdir(), 'kbuild-linear-')), 'config');
const classesOf = (text: string): unknown => {
  writeFileSync(file, text);
  return configClasses([file], '/nowhere')?.('cp1');
};

const CASES: readonly (readonly [string, (text: string) => unknown, (pieces: string) => string])[] = [
  ['rules of ufw', ufw, (pieces) => `Status: active\n22/tcp${pieces}ALLOW${pieces}any${pieces}#${pieces}\r`],
  ['rules of firewalld', firewalld, (pieces) => `public (active)\n${pieces}rule ${pieces}\u0001`],
  ['proxy variables', (text) => proxyVariables.parse(text, { middleMs: 0 }), (pieces) => `http_proxy=${pieces}x\u2028`],
  ['connections', readConnects, (pieces) => `10.0.0.1 1 1${pieces}\u2028`],
  ['a version', versionIn, (pieces) => `${pieces}x`],
  ['the version of a kubelet', releaseOf, (pieces) => `v1.36.3${pieces}\n`],
  ['a Corefile', (text) => corefileWith(text, 'own'), (pieces) => `.:53 {${pieces}}`],
  ['a configuration that may hold keys', isEncryptionConfiguration, (pieces) => `${pieces}x`],
  ['the last words of a failure', (text) => diagnosis([text]), (pieces) => `${pieces}x`],
  ['a configuration of SSH', classesOf, (pieces) => `Host${pieces}x${pieces}\r\u0001\nHost cp1\n`],
  ['the name of an image', fullName, (pieces) => `${pieces}/x`],
];

test.each(CASES)(
  'a text is read in a time that grows with its length alone: %s',
  (_, read, make) => {
    for (const piece of [' ', '\t', '\n', '\r', '\u2028', '1', '-', ':', '=', '#', 'a '])
      expect({ piece, linear: hasLinearTime((n) => make(piece.repeat(n)), read) }).toEqual({ piece, linear: true });
  },
  60_000,
);

test('what repeats at the end of a text is taken off, and nothing else', () => {
  expect(withoutEnd('/a//b//', '/')).toBe('/a//b');
  expect(withoutEnd('\n\n', '\n')).toBe('');
  expect(withoutEnd('', '/')).toBe('');
});

test('a value loses one pair of quotes and the blanks around it', () => {
  expect(unquoted(' "a b" ')).toBe('a b');
  expect(unquoted("'x")).toBe('x');
});

test('keywords of SSH are read with blanks or one = before the value', () => {
  const seen = (line: string): unknown => {
    writeFileSync(file, `${line}\n`);
    return configClasses([file], '/nowhere')?.('cp1');
  };
  for (const line of ['Host cp1', '  host\tcp1  ', 'Host=cp1', 'HOST = "cp1"']) expect(seen(line)).toBe('1');
  expect(seen('Host w1')).toBe('0');
  for (const line of ['# Host cp1', 'Host-cp1', '']) expect(seen(line)).toBe('');
  expect(seen('Match host x')).toBeUndefined();
});
