import { spawnSync } from 'node:child_process';
import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { describe } from '../../src/engine/lock-holder.ts';
import { holder, isGone } from '../../src/session/run-record.ts';

const run = { command: 'up', runId: '20260101t120000z-0a1b2c3d', context: { nowMs: () => 0 } } as Parameters<
  typeof holder
>[0];
const mine = holder(run);
/** A process id that no process has any more. */
const ended = spawnSync('true').pid;

test('a lock holder names its user, process, run and process namespace', () => {
  expect(describe(mine)).toMatch(
    new RegExp(
      `^by ${userInfo().username}@${hostname()} \\(pid ${String(process.pid)}\\) since 1970-01-01T00:00:00\\.000Z, run 20260101t120000z-0a1b2c3d in [0-9a-f]{8}: kbuild up$`,
    ),
  );
});

test('a holder on this machine is gone when its process has ended, and not before', () => {
  expect(isGone(describe({ ...mine, pid: ended }))).toBe(true);
  expect(isGone(describe(mine))).toBe(false);
});

test('a holder in another container with the same user and machine name counts as alive', () => {
  const elsewhere = describe({ ...mine, pid: ended, run: '20260101t120000z-0a1b2c3d in 00000000' });
  expect(isGone(elsewhere)).toBe(false);
  expect(isGone(describe({ ...mine, pid: ended, run: 'without-a-realm' }))).toBe(false);
  expect(isGone(`by ${mine.who} (pid ${String(ended)}) since ${mine.since}: kbuild up`)).toBe(false);
});
