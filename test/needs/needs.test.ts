import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { mergedSkips, skipSummary } from './skip-reporter.ts';
import { findProgram, installCommand, packagesOf } from './table.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
describe('the summary of skipped tests', () => {
  const one = { name: 'a', file: 'a.test.ts', reason: 'needs mandoc (not installed)', programs: ['mandoc'] } as const;
  const other = { name: 'b', file: 'b.test.ts', reason: 'needs root (found ada)', programs: [] } as const;

  test('counts the tests of each reason over several runs', () => {
    const merged = mergedSkips([{ skipped: [other] }, { skipped: [one, { ...one, name: 'c' }] }]);
    expect(skipSummary({ skipped: merged.skipped, install: 'brew install mandoc' })).toEqual([
      '2 tests skipped: needs mandoc (not installed)',
      '1 test skipped: needs root (found ada)',
      'To run them: brew install mandoc',
    ]);
  });

  test('names no command where no package helps', () => {
    expect(mergedSkips([{ skipped: [other] }])).toEqual({ skipped: [other] });
    expect(skipSummary({ skipped: [] })).toEqual([]);
  });

  test('names the packages of Debian and of Homebrew', () => {
    expect(packagesOf('apt', ['groff', 'csh'])).toEqual(['groff-base', 'tcsh']);
    expect(installCommand(['groff', 'csh', 'busybox'], 'darwin')).toBe('brew install groff tcsh-shell');
    expect(installCommand(['busybox'], 'darwin')).toBeUndefined();
    expect(installCommand([])).toBeUndefined();
  });
});

test('a program is found in PATH and where daemons are, a folder or a plain file is none', () => {
  expect(findProgram('sh')).toMatch(/^\/.*\/sh$/);
  expect(findProgram(process.execPath)).toBe(process.execPath);
  expect(findProgram('tmp')).toBeUndefined();
  expect(findProgram(join(root, 'package.json'))).toBeUndefined();
});

describe('no test is skipped in another way', () => {
  /** Other means of vitest, and tests that exist only where a file does. */
  const OTHER_MEANS = [
    /\b(?:test|it|describe|suite)(?:\.\w+)*\.(?:skip|skipIf|runIf|todo|only)\b/,
    /\bskip: (?!undefined)/,
    /\b(?:ctx|context)\.skip\(/,
    /\(\{[^})]*\bskip\b[^})]*\}\)\s*=>/,
    /^(?:const [A-Z]|describe|test).*existsSync/,
    /\?\s*(?:test|it|describe)\b(?!\.each\()[\s.]/,
  ];
  const isOther = (text: string) => OTHER_MEANS.some((pattern) => pattern.test(text));
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );

  test.each([
    "test.skip('a', () => {})",
    "describe.skipIf(!hasRoot)('a', () => {})",
    "test.concurrent.skip('a', () => {})",
    "test('a', { skip: !hasRoot }, () => {})",
    "test('a', ({ skip }) => skip())",
    "test('a', (ctx) => ctx.skip())",
    'const SHELLS = ALL.filter(([path]) => existsSync(path))',
    'const rooted = isRoot ? test : test.skip;',
  ])('recognizes: %s', (text) => {
    expect(isOther(text)).toBe(true);
  });

  test('not in any file', () => {
    expect(files.length).toBeGreaterThan(500);
    expect(files).toContain('needs/needs.test.ts');
    const found = files
      .filter((name) => !name.startsWith('needs/'))
      .flatMap((name) =>
        readFileSync(join(root, 'test', name), 'utf8')
          .split('\n')
          .flatMap((line, index) => (isOther(line) ? [`test/${name}:${String(index + 1)}: ${line.trim()}`] : [])),
      );
    expect(found).toEqual([]);
  });
});
