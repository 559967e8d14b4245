/** Locks of hosts: one holder at a time, freed when a run dies, taken again after a lost connection, forced only when told. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LockHolder } from '../../../src/engine/lock-holder.ts';
import { forceUnlock, lockHosts, whoHolds } from '../../../src/engine/lock.ts';
import { Refused } from '../../../src/errors.ts';
import { lockUsed } from '../../../src/host/machine.facts.ts';
import { sh } from '../../../src/shell/sh.ts';
import * as lab from '../lab.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';
import { kbuilds } from './kbuilds.ts';

const [A, B] = ['locks-w1', 'locks-w2'] as const;
const { connect, closeAll } = kbuilds();

const holder = (who: string): LockHolder => ({ who, pid: 4321, since: '2026-01-01T12:03:00Z', command: 'kbuild up' });
const alice = holder('alice@laptop');
const bob = holder('bob@desk');

beforeAll(() => lab.up([A, B]));
afterAll(async () => {
  await closeAll();
  await lab.down([A, B]);
});

test('the refusal of the second run names the holder, its command and its start; afterwards the lock is free', async () => {
  const [one, two] = [await connect(A), await connect(A, 'ops')];
  const lock = await lockHosts([one], alice);
  await expect(lockHosts([two], bob)).rejects.toThrow(
    `${A}: refused: locked: held by alice@laptop (pid 4321) since 2026-01-01T12:03:00Z: kbuild up`,
  );
  expect(await whoHolds(two)).toBe('alice@laptop (pid 4321) since 2026-01-01T12:03:00Z: kbuild up');
  await lock.release();
  expect(await whoHolds(two)).toBeUndefined();
  await (await lockHosts([two], bob)).release();
});

test('a run detects whether another run held the lock between its observation and its own lock', async () => {
  const [one, two] = [await connect(A), await connect(A)];
  const seen = async () => (await two.run(lockUsed.command)).trim();
  await (await lockHosts([one], alice)).release();
  const before = await seen();
  const mine = await lockHosts([one], alice);
  expect(mine.usedBefore.get(A)).toBe(before);
  expect(await seen()).toBe('held');
  await mine.release();
  const later = await lockHosts([one], bob);
  expect(later.usedBefore.get(A)).not.toBe(before);
  await later.release();
});

test('all hosts or none', async () => {
  const [ours, theirs] = [await connect(B), await connect(B)];
  const a = await connect(A);
  const lock = await lockHosts([theirs], alice);
  await expect(lockHosts([ours, a], bob)).rejects.toBeInstanceOf(Refused);
  expect(await whoHolds(a)).toBeUndefined();
  await lock.release();
});

test('a kbuild that dies frees its locks at once, long before the 45 s of silence', async () => {
  const [dead, two] = [await connect(A), await connect(A)];
  await lockHosts([dead], alice);
  await dead.cut();
  await dead.close();
  await waitUntil('the lock is free', PATIENCE_MS, async () => (await whoHolds(two)) === undefined);
});

test('a lock whose connection was lost is taken again by the same run', async () => {
  const [one, two] = [await connect(A), await connect(A)];
  const lock = await lockHosts([one], alice);
  await one.cut();
  await waitUntil('a new connection', PATIENCE_MS, () => one.transport.connections === 2);
  await waitUntil('the lock', PATIENCE_MS, () => whoHolds(two));
  await expect(lockHosts([two], bob)).rejects.toBeInstanceOf(Refused);
  await lock.release();
  expect(await whoHolds(two)).toBeUndefined();
});

test('unlock --force ends the holder, tells its run, and never ends a job', async () => {
  const [one, two] = [await connect(A, 'ops'), await connect(A)];
  const lock = await lockHosts([one], alice);
  const job = one.job('work', sh`until [ -e /root/go ]; do sleep 0.1; done; echo done`);
  await forceUnlock(two);
  expect((await lock.lost).message).toBe(`${A}: refused: the lock was freed by force`);
  const other = await lockHosts([two], bob);
  await lab.inside(A, 'touch /root/go');
  expect(await job).toBe('done\n');
  await other.release();
  await lock.release();
});
