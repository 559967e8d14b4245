// @module-tag flock
// @module-tag linux
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sh } from '../../src/shell/sh.ts';
import { script } from '../../src/templates.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-lock-'));
const LOCK = join(folder, 'lock');
const LEFT = join(folder, 'etc-kubernetes.tar');
afterAll(() => rmSync(folder, { recursive: true }));

/** The first line of a run that takes the lock. */
const take = (holder: string): string =>
  execFileSync('sh', ['-euc', script('engine/lock.sh', { LOCK, HOLDER: holder, LEFTOVERS: [LEFT] }).script], {
    input: '',
    encoding: 'utf8',
  }).split('\n')[0]!;

test('a run that has just taken the lock is named, though it writes its line a moment later', async () => {
  const taking = sh`exec 9>>${LOCK}; flock 9; echo taken; sleep 0.7; printf '1\\nby bob@desk\\n' >${LOCK}; cat`;
  const other = spawn('sh', ['-euc', taking.script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await new Promise((resolve) => other.stdout.once('data', resolve));
  expect(take('by alice@desk')).toBe('held by bob@desk');
  const ended = new Promise((resolve) => other.once('exit', resolve));
  other.stdin.end();
  await ended;
  // The line of a run that ended without taking it back means nothing.
  expect(take('by alice@desk')).toMatch(/^locked \d/);
});

test('a run that takes the lock removes what a killed run left, and nothing while another run holds it', async () => {
  writeFileSync(LEFT, 'keys');
  const holding = sh`exec 9>>${LOCK}; flock 9; printf '1\nby bob@desk\n' >${LOCK}; echo taken; cat`;
  const other = spawn('sh', ['-euc', holding.script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await new Promise((resolve) => other.stdout.once('data', resolve));
  expect(take('by alice@desk')).toBe('held by bob@desk');
  expect(existsSync(LEFT)).toBe(true);
  const ended = new Promise((resolve) => other.once('exit', resolve));
  other.stdin.end();
  await ended;
  expect(take('by alice@desk')).toMatch(/^locked \d/);
  expect(existsSync(LEFT)).toBe(false);
});
