import { expect, test } from 'vitest';
import { holdLease, whoHoldsLease, type ApiHost } from '../../src/engine/lease.ts';
import type { Pause } from '../../src/transport/pause.ts';

const HOLDER = { who: 'alice@laptop', pid: 7, since: '2026-01-01T00:00:00Z', command: 'kbuild up' };

/** An API server that answers in turn; a pause ends when the test says so. */
function world(answers: readonly (string | Error)[]) {
  const asked: string[] = [];
  const left = [...answers];
  const api: ApiHost = {
    server: 'https://10.0.0.1:6443',
    remote: {
      run: ({ script }) => {
        asked.push(/^ACTION=(\w+)$/m.exec(script)![1]!);
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
  return { api, asked, pause, tick };
}

test('it is taken, renewed, and freed', async () => {
  const { api, asked, pause, tick } = world(['locked\n', 'locked\n']);
  const lease = await holdLease(() => api, HOLDER, { pause });
  await tick();
  await lease.release();
  expect(asked).toEqual(['take', 'take', 'free']);
});

test('who comes second is refused, and told who was first', async () => {
  const { api, pause } = world(['held by bob@desk (pid 1) since 2026: kbuild up\n']);
  await expect(holdLease(() => api, HOLDER, { pause })).rejects.toMatchObject({
    exitCode: 7,
    message: 'cluster: refused: locked: held by bob@desk (pid 1) since 2026: kbuild up',
  });
});

test('without an API it is taken as soon as one answers; until then nothing is asked, and nothing freed', async () => {
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

test('an API that does not answer is no loss; somebody else in it is', async () => {
  const { api, pause, tick } = world(['locked\n', new Error('down'), 'held by bob\n']);
  const lease = await holdLease(() => api, HOLDER, { pause });
  await tick();
  await tick();
  expect((await lease.lost).message).toContain('held by bob');
});

test('who holds it, in words', async () => {
  expect(await whoHoldsLease(world(['held by alice@laptop: kbuild up\n']).api)).toBe('alice@laptop: kbuild up');
  expect(await whoHoldsLease(world(['']).api)).toBeUndefined();
});

test('a holder that is known to be dead is not waited for: its Lease is freed, and no other’s', async () => {
  const { api, asked, pause } = world(['held by alice@laptop (pid 6) since 2026: kbuild up\n', '', 'locked\n']);
  const isGone = (heldBy: string): boolean => heldBy.startsWith('by alice@laptop (pid 6)');
  const lease = await holdLease(() => api, HOLDER, { pause, isGone });
  await lease.release();
  expect(asked).toEqual(['take', 'free', 'take', 'free']);
});
