import { expect, test } from 'vitest';
import { type ApiHost, holdLease, whoHoldsLease } from '../../src/engine/lease.ts';
import type { Pause } from '../../src/wait.ts';

const HOLDER = { who: 'alice@laptop', pid: 7, since: '2026-01-01T00:00:00Z', command: 'kbuild up' };

/** An API server that answers in turn; a pause ends when the test says so. */
function world(answers: readonly (string | Error)[]) {
  const asked: string[] = [];
  const stale: string[] = [];
  const left = [...answers];
  const api: ApiHost = {
    server: 'https://10.0.0.1:6443',
    remote: {
      run: ({ script }) => {
        asked.push(/^ACTION=(\w+)$/m.exec(script)![1]!);
        stale.push(/^STALE=(.*)$/m.exec(script)![1]!);
        const answer = left.shift() ?? '';
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    },
  };
  const ticks: (() => void)[] = [];
  const pause: Pause = (_ms, signal) =>
    new Promise((resolve) => {
      ticks.push(resolve);
      signal?.addEventListener('abort', () => resolve());
    });
  const tick = async () => {
    ticks.shift()?.();
    await new Promise((done) => setImmediate(done));
  };
  return { api, asked, stale, pause, tick };
}

test('the Lease is taken, renewed and freed', async () => {
  const { api, asked, pause, tick } = world(['locked\n', 'locked\n']);
  const lease = await holdLease(() => api, HOLDER, { pause });
  await tick();
  await lease.release();
  expect(asked).toEqual(['take', 'take', 'free']);
});

const BOB = 'by bob@desk (pid 1) since 2026: kbuild up';

/** A pause that ends at once, and moves a clock. */
function clock() {
  let nowMs = 0;
  const pause: Pause = (ms, signal) => {
    if (signal?.aborted !== true) nowMs += ms;
    return signal?.aborted === true ? Promise.resolve() : new Promise((done) => setImmediate(done));
  };
  return { pause, clockMs: () => nowMs };
}

test('a Lease that another run renews is refused with its holder', async () => {
  const { api } = world([`held 5 ${BOB}\n`, `held 5 ${BOB}\n`, `held 6 ${BOB}\n`]);
  const waits: string[] = [];
  const options = { ...clock(), onWait: (heldBy: string) => void waits.push(heldBy) };
  await expect(holdLease(() => api, HOLDER, options)).rejects.toMatchObject({
    exitCode: 7,
    message: `cluster: refused: locked: held ${BOB}`,
  });
  expect(waits).toEqual([BOB]);
});

test('a Lease that does not change for 45 s by this process’ clock is taken, by its version', async () => {
  const observed = Array.from({ length: 15 }, () => `held 5 ${BOB}\n`);
  const { api, asked, stale } = world([...observed, 'locked\n']);
  const { pause, clockMs } = clock();
  const lease = await holdLease(() => api, HOLDER, { pause, clockMs });
  // And what the renewal waits, which begins at once.
  expect(clockMs() - 45_000).toBeLessThanOrEqual(15_000);
  expect(asked).toHaveLength(16);
  expect(new Set(stale.slice(0, 15))).toEqual(new Set(["''"]));
  expect(stale[15]).toBe('5');
  await lease.release();
});

test('a run that waits for a Lease ends when it is interrupted', async () => {
  const { api } = world(Array.from({ length: 9 }, () => `held 5 ${BOB}\n`));
  const signal = AbortSignal.abort(new Error('interrupted'));
  await expect(holdLease(() => api, HOLDER, { ...clock(), signal })).rejects.toThrow('interrupted');
});

test('without an API the Lease is taken as soon as one answers; until then no command runs', async () => {
  const { api, asked, pause, tick } = world(['locked\n']);
  let up = false;
  const lease = await holdLease(() => (up ? api : undefined), HOLDER, { pause });
  await tick();
  expect(asked).toEqual([]);
  up = true;
  await tick();
  expect(asked).toEqual(['take']);
  await lease.release();
  expect(asked).toEqual(['take', 'free']);
});

test('an API that does not answer is no loss; another run’s Lease is', async () => {
  const { api, pause, tick } = world(['locked\n', new Error('down'), 'held 9 by bob\n']);
  const lease = await holdLease(() => api, HOLDER, { pause });
  await tick();
  await tick();
  expect((await lease.lost).message).toContain('held by bob');
});

test('another run’s Lease that shows up with the API ends the run once it is renewed', async () => {
  const { api, pause, tick } = world([`held 5 ${BOB}\n`, `held 5 ${BOB}\n`, `held 6 ${BOB}\n`]);
  let up = false;
  const lease = await holdLease(() => (up ? api : undefined), HOLDER, { pause });
  up = true;
  await tick();
  await tick();
  await tick();
  expect((await lease.lost).message).toContain(`held ${BOB}`);
});

test('a run that puts back saved data observes the Lease that it finds there, and is not ended by it', async () => {
  const { api, pause, tick } = world(['locked\n', `held 5 ${BOB}\n`, `held 5 ${BOB}\n`, `held 6 ${BOB}\n`]);
  const lease = await holdLease(() => api, HOLDER, { pause, replacesData: true });
  let isLost = false;
  void lease.lost.then(() => (isLost = true));
  await tick();
  await tick();
  expect(isLost).toBe(false);
  await tick();
  expect((await lease.lost).message).toContain(`held ${BOB}`);
});

test('the holder of the Lease is named in words', async () => {
  expect(await whoHoldsLease(world(['held by alice@laptop: kbuild up\n']).api)).toBe('alice@laptop: kbuild up');
  expect(await whoHoldsLease(world(['']).api)).toBeUndefined();
});

test('the Lease of a run that has ended on this machine is freed at once, and no other Lease', async () => {
  const { api, asked, pause } = world(['held 5 by alice@laptop (pid 6) since 2026: kbuild up\n', '', 'locked\n']);
  const isGone = (heldBy: string): boolean => heldBy.startsWith('by alice@laptop (pid 6)');
  const lease = await holdLease(() => api, HOLDER, { pause, isGone });
  await lease.release();
  expect(asked).toEqual(['take', 'free', 'take', 'free']);
});
