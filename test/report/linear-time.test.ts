import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { textDiff } from '../../src/engine/text-diff.ts';
import { readKeyFile } from '../../src/host/packages/openpgp.value.ts';
import { selects } from '../../src/inventory/hosts.ts';
import { diagnosis } from '../../src/report/failure.ts';
import { masker } from '../../src/report/mask.ts';
import { annotations, withoutCommands } from '../../src/report/pipelines.ts';
import { Secret } from '../../src/shell/secret.ts';
import { matchesGlob } from '../../src/shell/text.ts';
import { wildcard } from '../../src/ssh/known-hosts.ts';
import { cpuMs, hasLinearTime } from '../tools/linear-time.ts';

/** Like `hasLinearTime`. */
const expectLinear = (make: (length: number) => string, work: (text: string) => unknown): void =>
  expect(hasLinearTime(make, work)).toBe(true);

const filled = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));

/** Words that the masker knows, from its own source: a new pattern is tested without a new line here. */
const words = (): readonly string[] => {
  const source = readFileSync(new URL('../../src/report/mask-shapes.ts', import.meta.url), 'utf8');
  const patterns = source
    .split('\n')
    .filter((line) => /^\s*(?:\/[^/*]|new RegExp|String\.raw)|= (?:\/|String\.raw)/.test(line));
  return [...new Set(patterns.join('\n').match(/[A-Za-z]{3,}/g))];
};

const PIECES = [
  'a.',
  'a-',
  'a',
  'eyJ-',
  'eyJaaaaaaaaaaaaa.',
  '\\',
  '"',
  "'",
  ' ',
  '\n',
  '\t',
  ':',
  '://',
  '://a:',
  '=',
  '-',
  ' -',
  ' --p.',
  ' -u',
  'ghp_-',
  '0',
  'A ',
  '-----BEGIN ',
  '-----BEGIN A ',
];

describe('the masker takes a time that grows with the length of the text alone', () => {
  const { text } = masker({
    a: Secret.of('hunter2hunter2'),
    b: Secret.of('aaaaaaaaaaaab'),
    c: Secret.of('\\\\\\\\\\\\\\'),
  });

  test.each(PIECES)('for %j again and again, before and after every word that it knows', (piece) => {
    const all = words();
    expect(all.length).toBeGreaterThan(40);
    const ends = all.map((word) => ` ${word}`).join('');
    for (const make of [
      (n: number) => `${filled(piece, n)}${ends}`,
      (n: number) => `${ends}${filled(piece, n)}`,
      (n: number) => `curl token:"${filled(piece, n)} key`,
    ])
      expectLinear(make, text);
  });

  test.each([
    '"',
    '":',
    '": "',
    '=',
    '="',
    "='",
    ': ',
    ': "',
    ' ',
    '://',
    '@',
    '\\"',
    '"\\',
    "':'",
    '.',
    '-',
    '_',
    '1',
  ])(
    'for each word that it knows with %j behind it, again and again',
    (mark) => {
      for (const word of words()) {
        const once = `${word}${mark}`;
        expectLinear((n) => filled(once, n), text);
      }
    },
    60_000,
  );
});

describe.each([
  ['line feeds', '\n'],
  ['spaces', ' '],
  ['colons', ':'],
  ['commands', '::error::x\n'],
])('annotations of GitHub', (name, piece) => {
  test(`take a time that grows with the length of the text alone: ${name}`, () => {
    expectLinear((n) => filled(piece, n), withoutCommands);
    expectLinear(
      (n) => filled(piece, n),
      (message) =>
        annotations([
          { check: 'x', message, severity: 'error', page: 'x', place: { file: 'a', line: 1, column: 1 } } as never,
        ]),
    );
  });
});

test('a host name is matched against a pattern with many stars in a time that grows with both lengths', () => {
  const name = (n: number): string => filled('a', n);
  expectLinear(name, (text) => selects(['*a*a*a*a*a*a*a*a*a*a*a*a*b'], text));
  expectLinear(name, (text) => wildcard('*a?*a*a?*a*a*a*a*a*a*a*a*b', text));
  expectLinear(
    (n) => filled('*a', n),
    (pattern) => matchesGlob(pattern, 'aaaaaaaaab'),
  );
});

test('an armoured key of many blocks is read in a time that grows with its length', () => {
  const block = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n-----END PGP PUBLIC KEY BLOCK-----\n';
  const read = (text: string): unknown => {
    try {
      return readKeyFile(Buffer.from(text));
    } catch (error) {
      return error;
    }
  };
  expectLinear((n) => filled(block, n), read);
  expectLinear((n) => filled('-----BEGIN PGP PUBLIC KEY BLOCK-----\n', n), read);
  expect(() => readKeyFile(Buffer.from(filled(block, 1024 * 1024 + 1)))).toThrow('at most 1048576');
});

test('two texts that differ in every line are compared in a bounded time, and all lines are shown', () => {
  const of = (sign: string, n: number) => Array.from({ length: n }, (_, i) => `${sign}${String(i)}`).join('\n');
  // 16,000 lines took 100 seconds.
  expect(cpuMs(() => textDiff(of('x', 64_000), of('y', 64_000)))).toBeLessThan(5000);
  const shown = textDiff(`same\n${of('x', 1500)}\nend`, `same\n${of('y', 1500)}\nend`).split('\n');
  expect(shown.slice(0, 2)).toEqual(['  same', '- x0']);
  expect(shown.slice(-2)).toEqual(['+ y1499', '  end']);
  expect(shown).toHaveLength(3002);
});

test('a comparison of texts shows 4,000 lines, and how many more there are', () => {
  const long = Array.from({ length: 10_000 }, (_, i) => `x${String(i)}`).join('\n');
  expect(textDiff('', long).split('\n').at(-1)).toBe('  … (6000 more lines)');
});

test.each(['key ', 'token id ', 'check-etcd', '[ERROR ', '\n', 'repository ', 'x509: certificate is valid for '])(
  'the cause of a failure is searched in a time that grows with the length of the text: %j',
  (piece) => {
    // Up to 2,000 characters of a line the work may grow faster.
    expectLinear(
      (n) => filled(piece, 10 * n),
      (text) => diagnosis([text]),
    );
  },
);
