import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockHosts, whoHolds, type LockHolder } from '../../../src/engine/lock.ts';
import { Refused } from '../../../src/errors.ts';
import * as lab from '../lab.ts';
import { waitUntil } from '../wait-until.ts';
import { kbuilds } from '../scenarios/kbuilds.ts';

const A = 'lease-w1';
const { connect, closeAll } = kbuilds();

const holder = (who: string): LockHolder => ({ who, pid: 4321, since: '2026-01-01T12:03:00Z', command: 'kbuild up' });
const alice = holder('alice@laptop');
const bob = holder('bob@desk');

beforeAll(() => lab.up([A]));
afterAll(async () => {
  await closeAll();
  await lab.down([A]);
});

test('a host that nobody can reach for 45 s loses the lock, and the run that comes back too late is told', async () => {
  const [one, two] = [await connect(A), await connect(A)];
  const lock = await lockHosts([one], alice);
  await lab.partition([A]);
  await waitUntil(
    'the silence is noticed',
    60_000,
    async () => (await lab.inside(A, 'cat /run/kbuild/lock')).stdout === '',
  );
  await lab.inside(A, `flock -n /run/kbuild/lock true`);
  await lab.heal([A]);
  const other = await lockHosts([two], bob).catch((error: unknown) => error);
  if (other instanceof Refused) expect(await whoHolds(two)).toContain('alice');
  else {
    expect((await lock.lost).message).toContain('held by bob@desk');
    await (other as { release(): Promise<void> }).release();
  }
  await lock.release();
});
