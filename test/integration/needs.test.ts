/** What vitest makes of tests whose needs are unmet, and of those whose needs are met. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Skipped } from '../needs/skip-reporter.ts';

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
