/** The Lease beside the locks of hosts: runs on two machines keep out of each other's way. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockHosts, whoHolds } from '../../../src/engine/lock.ts';
import type { LockHolder } from '../../../src/engine/lock-holder.ts';
import { Refused } from '../../../src/errors.ts';
import { fresh } from '../fresh.ts';
import { kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { waitUntil } from '../wait-until.ts';
import { kbuilds } from '../scenarios/kbuilds.ts';

const A = 'lease-w1';
const CP = 'lease-cp1';
const HOSTS = [A, CP];
const MINUTES_MS = 5 * 60_000;
const { connect, closeAll } = kbuilds();

const holder = (who: string): LockHolder => ({ who, pid: 4321, since: '2026-01-01T12:03:00Z', command: 'kbuild up' });
const alice = holder('alice@laptop');
const bob = holder('bob@desk');

beforeAll(() => lab.up(HOSTS));
afterAll(async () => {
  await closeAll();
  await lab.down(HOSTS);
});

test('a host that is unreachable for 45 s loses its lock, and the run that returns too late fails', async () => {
  const [one, two] = [await connect(A), await connect(A)];
  const lock = await lockHosts([one], alice);
  await lab.partition([A]);
  await waitUntil(
    'the silence is noticed',
    47_000,
    async () => (await lab.inside(A, 'cat /run/kbuild/lock')).stdout === '',
  );
  expect((await lab.inside(A, 'flock -n /run/kbuild/lock true')).code).toBe(0);
  await lab.heal([A]);
  const other = await lockHosts([two], bob).catch((error: unknown) => error);
  if (other instanceof Refused) expect(await whoHolds(two)).toContain('alice');
  else {
    expect((await lock.lost).message).toContain('held by bob@desk');
    await (other as { release(): Promise<void> }).release();
  }
  await lock.release();
});

test('a kbuild that was frozen while another took the lock changes nothing any more', async () => {
  const { up } = await fresh('frozen', [CP]);
  const args = [...up, '--phase', 'prepare,runtime,packages'];
  const inside = async (command: string) => (await lab.inside(CP, command)).stdout.trim();
  const running = start(args);
  await waitUntil('a job', MINUTES_MS, async () =>
    (await inside("systemctl list-units --plain --no-legend 'kbuild-job-*'")).includes('kbuild-job-'),
  );
  expect((await kbuild(...args)).stderr).toContain(`${CP}: refused: locked: held by`);
  running.kill('SIGSTOP');
  const froze = performance.now();
  await waitUntil('the lock is free', MINUTES_MS, async () => (await inside('cat /run/kbuild/lock')) === '');
  console.log(`free ${((performance.now() - froze) / 1000).toFixed(1)} s after it was frozen`);
  expect(performance.now() - froze).toBeLessThan(47_000);
  await waitUntil(
    'the end of the job',
    MINUTES_MS,
    async () => (await inside("systemctl list-units --plain --no-legend 'kbuild-job-*'")) === '',
  );
  const theirs = await connect(CP);
  const lock = await lockHosts([theirs], bob);
  await inside('touch /root/frozen');
  running.kill('SIGCONT');
  const { code, stderr } = await running.ended;
  expect(stderr).toContain('held by bob@desk');
  expect(code).toBe(7);
  expect(await inside('find /etc /usr /var/lib/kbuild -newer /root/frozen -type f')).toBe('');
  await lock.release();
  expect((await kbuild(...args)).code).toBe(0);
});
