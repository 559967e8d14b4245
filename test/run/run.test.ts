import { describe, expect, test } from 'vitest';
import { closing, type Outcome } from './outcome.ts';
import type { Part } from './parts.ts';
import { schedule } from './schedule.ts';
import { sharesExceeded } from './shares.ts';

const outcome = (name: string, more: Partial<Outcome> = {}): Outcome => ({
  ...{ name, passed: 1, failed: 0, skips: [], seconds: 1 },
  ...more,
});
const install = (programs: readonly string[]): string | undefined =>
  programs.length === 0 ? undefined : `install ${programs.join(' ')}`;

describe('the last lines of npm test', () => {
  test('count all tests in one line', () => {
    expect(closing([outcome('unit', { passed: 6 }), outcome('core', { passed: 2 })], [], install)).toEqual([
      'times: unit 1 s, core 1 s',
      '8 passed, 0 failed, 0 skipped',
    ]);
  });

  test('name each reason once, and the one command that installs what is missing', () => {
    const skips = [
      { name: 'a', reason: 'needs mandoc (not installed)', programs: ['mandoc'] as const },
      { name: 'b', reason: 'needs mandoc (not installed)', programs: ['mandoc'] as const },
      { name: 'core', reason: 'root, for namespaces', programs: [] },
    ];
    expect(closing([outcome('unit', { skips })], [], install)).toEqual([
      'left out:',
      '  needs mandoc (not installed): 2 tests',
      '  root, for namespaces: core',
      'to run them: install mandoc',
      'times: unit 1 s',
      '1 passed, 0 failed, 3 skipped',
    ]);
  });

  test('name parts that failed, and those that did not begin because of it', () => {
    expect(closing([outcome('lint', { passed: 0, failed: 1 })], ['core'], install)).toEqual([
      'times: lint 1 s',
      'failed: lint',
      'not run, because something failed before: core',
      '0 passed, 1 failed, 0 skipped',
    ]);
  });
});

describe('the order of parts', () => {
  const part = (name: string, after: readonly string[] = [], alone = false): Part => ({
    ...{ name, after, hasTests: true, command: () => [] },
    ...(alone ? { alone } : {}),
  });
  /** Which parts ran beside each other: a line for each moment. */
  async function moments(parts: readonly Part[], failing: readonly string[] = []): Promise<readonly string[]> {
    const running = new Set<string>();
    const seen: string[] = [];
    const ended = await schedule(parts, async ({ name }) => {
      running.add(name);
      seen.push([...running].join(' + '));
      for (let turn = 0; turn < 3; turn++) await Promise.resolve();
      running.delete(name);
      return outcome(name, failing.includes(name) ? { failed: 1 } : {});
    });
    return [...seen, `ended: ${ended.map(({ name }) => name).join(' ')}`];
  }

  test('two parts run side by side, and the build of the lab beside them', async () => {
    expect(await moments(['lab build', 'unit', 'lint', 'types'].map((name) => part(name)))).toEqual([
      'lab build',
      'lab build + unit',
      'lab build + unit + lint',
      expect.stringContaining('types'),
      'ended: lab build unit lint types',
    ]);
  });

  test('a part that is alone begins when all others have ended', async () => {
    expect(await moments([part('unit'), part('core', ['unit'], true), part('lint')])).toEqual([
      'unit',
      'unit + lint',
      'core',
      'ended: unit lint core',
    ]);
  });

  test('what follows a part that failed does not run; the others do', async () => {
    expect(await moments([part('build'), part('unit', ['build']), part('lint')], ['build'])).toEqual([
      'build',
      'build + lint',
      'ended: build lint',
    ]);
  });

  test('a part that follows one which was not chosen runs at once', async () => {
    expect(await moments([part('core', ['unit'], true)])).toEqual(['core', 'ended: core']);
  });
});

describe('the shares of the scenarios of the core', () => {
  const shares = { life: 0.6, upgrade: 0.4 };

  test('are kept, however slow the machine is', () => {
    expect(sharesExceeded({ life: 600, upgrade: 400 }, shares)).toEqual([]);
    expect(sharesExceeded({ life: 6000, upgrade: 4000 }, shares)).toEqual([]);
  });

  test('a scenario that takes twice its share is named', () => {
    expect(sharesExceeded({ life: 100, upgrade: 900 }, shares)).toEqual([
      'core/upgrade: took 900 s, 90 % of the core (noted 40 %). Find what became slow, or note its new share in test/run/shares.ts',
    ]);
  });

  test('a scenario without a share, and one that did not run, is named', () => {
    expect(sharesExceeded({ life: 60, windows: 1 }, shares)).toEqual([
      'core/upgrade: did not run',
      'core/windows: has no share: add it to test/run/shares.ts',
    ]);
  });
});
