import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Skipped } from './skip-reporter.ts';
import { mergedSkips, skipSummary } from './skip-reporter.ts';
import { findProgram, installCommand, packagesOf } from './table.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-needs-'));
const at = (name: string) => join(folder, name);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A PATH without mandoc, and one with a program of that name. */
mkdirSync(at('without'));
mkdirSync(at('with'));
for (const name of ['without', 'with']) symlinkSync(process.execPath, at(`${name}/node`));
writeFileSync(at('with/mandoc'), '#!/bin/sh\n');
chmodSync(at('with/mandoc'), 0o755);

interface Tested {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly { readonly assertionResults: readonly Tested[] }[];
}

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  /** Passed, failed, skipped. */
  readonly counts: readonly number[];
  readonly tests: readonly Tested[];
  readonly skips: Skipped;
}

const done = new Map<string, Ran>();

/** What vitest makes of the fixture with this PATH; runs it once. */
function run(path: 'with' | 'without', required: '' | 'all'): Ran {
  const known = done.get(path + required);
  if (known !== undefined) return known;
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'needs-fixture'];
  const reporters = ['json', './test/needs/skip-reporter.ts', 'verbose'].map((name) => `--reporter=${name}`);
  const { status, stdout } = spawnSync(process.execPath, [...args, ...reporters, `--outputFile=${at('report')}`], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: at(path), HOME: folder, TERM: 'xterm', KBUILD_REQUIRE: required, KBUILD_SKIPPED: at('skipped') },
  });
  const report = JSON.parse(readFileSync(at('report'), 'utf8')) as Report;
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const ran = {
    status,
    stdout,
    counts: [report.numPassedTests, report.numFailedTests, report.numPendingTests],
    tests,
    skips: JSON.parse(readFileSync(at('skipped'), 'utf8')) as Skipped,
  };
  done.set(path + required, ran);
  return ran;
}

const NAMES = ['a block > in it', 'each of several: a', 'each of several: b', 'of a file', 'one test'];

// Each starts vitest, which takes a second, and half a minute on a busy machine.
describe('a test that needs a program', { timeout: 120_000 }, () => {
  test('is skipped by name with its reason where the program is missing, and so are its hooks', () => {
    const { status, stdout, counts, skips } = run('without', '');
    expect({ status, counts }).toEqual({ status: 0, counts: [1, 0, 5] });
    expect(skips.skipped.map(({ name }) => name).toSorted()).toEqual(NAMES);
    expect(new Set(skips.skipped.map(({ reason }) => reason))).toEqual(new Set(['needs mandoc (not installed)']));
    expect(skips.skipped.map(({ file }) => file)).toContain('test/needs/fixture/whole-file.ts');
    expect(stdout).not.toContain('HOOK');
  });

  test('fails with its reason where the program is missing and KBUILD_REQUIRE is "all"', () => {
    const { status, stdout, counts, tests, skips } = run('without', 'all');
    expect({ status, counts, skips }).toEqual({ status: 1, counts: [1, 5, 0], skips: { skipped: [] } });
    const messages = tests.flatMap(({ failureMessages }) => failureMessages.map((text) => text.split('\n')[0]));
    expect(messages).toEqual(Array.from({ length: 5 }, () => 'Error: needs mandoc (not installed)'));
    expect(stdout).not.toContain('HOOK');
  });

  test.each(['', 'all'] as const)('is reported without colour codes into a pipe (KBUILD_REQUIRE="%s")', (required) => {
    expect(run('without', required).stdout).not.toContain('\u001b');
  });

  test('runs where the program is in PATH', () => {
    const { status, stdout, counts, skips } = run('with', '');
    expect({ status, counts, skips }).toEqual({ status: 0, counts: [6, 0, 0], skips: { skipped: [] } });
    expect(stdout).toContain('HOOK');
  });
});

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
