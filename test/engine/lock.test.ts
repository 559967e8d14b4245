import { describe, expect, test } from 'vitest';
import type { LockHolder } from '../../src/engine/lock-holder.ts';
import { lockHosts, refuseLocked } from '../../src/engine/lock.ts';
import { ConnectError, Refused } from '../../src/errors.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import type { Held } from '../../src/ssh/remote.ts';
import { linuxHost } from '../fakes/inventory.ts';

const holder: LockHolder = { who: 'alice@laptop', pid: 7, since: '2026-01-01T00:00:00Z', command: 'kbuild up' };

/** A host whose lock is taken by script: each answer is what its `hold` says, or throws. */
function host(name: string, log: string[], answers: readonly (string | Error)[] = ['locked']) {
  const left = [...answers];
  let says: string | undefined;
  let doubtful = false;
  let end: (status: number | string) => void = () => undefined;
  return {
    host: linuxHost(name),
    run: () => (says === undefined ? Promise.reject(new Error('not expected')) : Promise.resolve(says)),
    hold: (): Promise<Held> => {
      const answer = left.shift() ?? 'locked';
      log.push(`${name} ${answer instanceof Error ? answer.name : answer}`);
      if (answer instanceof Error) return Promise.reject(answer);
      const ended = new Promise<number | string>((resolve) => (end = resolve));
      return Promise.resolve({
        first: answer,
        ended,
        isDoubtful: () => doubtful,
        trust: () => {
          doubtful = false;
          log.push(`${name} trusted`);
        },
        release: () => {
          log.push(`${name} released`);
          end(0);
          return Promise.resolve();
        },
      });
    },
    /** This process was frozen; who holds the lock by what the host says now. */
    sleeps: (holderLine: string) => {
      doubtful = true;
      says = holderLine;
    },
    /** Ends what is held. */
    ends: (status: number | string) => end(status),
  };
}

const controlPlane = <R extends { readonly host: LinuxHost }>(remote: R): R => ({
  ...remote,
  host: { ...remote.host, role: 'control-plane' },
});

const soon = { pause: () => Promise.resolve() };
const settled = async (log: readonly string[], length: number) => {
  await expect.poll(() => log.length).toBe(length);
};

test('the first host by name is locked before all others, and all locks are released', async () => {
  const log: string[] = [];
  const lock = await lockHosts([host('c', log), host('a', log), host('b', log)], holder);
  expect(log).toEqual(['a locked', 'b locked', 'c locked']);
  await lock.release();
  expect(log.slice(3).sort()).toEqual(['a released', 'b released', 'c released']);
});

test('a run that does not get the lock of the first host locks no other host', async () => {
  const log: string[] = [];
  const locking = lockHosts(
    [host('a', log, ['held by bob@desk (pid 1) since then: kbuild up']), host('b', log)],
    holder,
  );
  await expect(locking).rejects.toThrow('a: refused: locked: held by bob@desk (pid 1) since then: kbuild up');
  await expect(locking).rejects.toMatchObject({
    exitCode: 7,
    remedy: expect.stringContaining('kbuild unlock --force') as string,
  });
  expect(log).toHaveLength(1);
});

test('a run that finds one host locked releases its other locks', async () => {
  const log: string[] = [];
  await expect(lockHosts([host('a', log), host('b', log, ['held by bob'])], holder)).rejects.toBeInstanceOf(Refused);
  expect(log).toEqual(['a locked', 'b held by bob', 'a released']);
});

test('reports when each lock was used before, where the host reports it', async () => {
  const log: string[] = [];
  const lock = await lockHosts([host('a', log, ['locked 1763000000.123']), host('b', log)], holder);
  expect([...lock.usedBefore]).toEqual([['a', '1763000000.123']]);
  await lock.release();
});

test('an empty list of hosts is locked at once', async () => {
  await (await lockHosts([], holder)).release();
});

test('a lock that was lost with its connection is tried again until the host answers', async () => {
  const log: string[] = [];
  const gone = new ConnectError('a', 'no answer', { retryable: true });
  const a = host('a', log, ['locked', gone, gone, 'locked']);
  const lock = await lockHosts([a], holder, soon);
  a.ends('lost');
  await settled(log, 4);
  await lock.release();
  expect(log).toEqual(['a locked', 'a ConnectError', 'a ConnectError', 'a locked', 'a released']);
});

test.each([
  ['another run took it', 'held by bob', 'lost', 'a: refused: locked: held by bob'],
  ['it was freed by force', 'locked', 'SIGKILL', 'a: refused: the lock was freed by force'],
])('the run is told when %s', async (_, again, status, message) => {
  const log: string[] = [];
  const a = host('a', log, ['locked', again]);
  const lock = await lockHosts([a, host('b', log)], holder, soon);
  a.ends(status);
  expect((await lock.lost).message).toBe(message);
  await lock.release();
});

/** Time that passes only in pauses. */
function clock() {
  let now = 0;
  return {
    nowMs: () => now,
    pause: (ms: number) => Promise.resolve(void (now += ms)),
  };
}
const gone = new ConnectError('a', 'no answer', { retryable: true });
const neverBack = ['locked', ...Array<Error>(1000).fill(gone)];

test('a control plane that does not come back loses the lock after five minutes', async () => {
  const a = controlPlane(host('a', [], neverBack));
  const time = clock();
  const lock = await lockHosts([a], holder, time);
  a.ends('lost');
  expect(await lock.lost).toBe(gone);
  expect(time.nowMs()).toBe(300_000);
  await lock.release();
});

test('the time to connect to a silent host counts toward the five minutes', async () => {
  const time = clock();
  const log: string[] = [];
  const a = controlPlane(host('a', log, neverBack));
  const slow = { ...a, hold: () => time.pause(10_000).then(() => a.hold()) };
  const lock = await lockHosts([slow], holder, time);
  a.ends('lost');
  expect(await lock.lost).toBe(gone);
  expect(log).toHaveLength(27);
  await lock.release();
});

test('a worker that does not come back loses its lock, and the run goes on with the other hosts', async () => {
  const [a, b] = [host('a', [], neverBack), host('b', [])];
  let tried = 0;
  let goOn: () => void = () => undefined;
  const time = clock();
  const pause = async (ms: number) => {
    // Another lock is verified meanwhile.
    if (++tried === 10) await new Promise<void>((resolve) => (goOn = resolve));
    await time.pause(ms);
  };
  const lock = await lockHosts([a, controlPlane(b)], holder, { ...time, pause });
  a.ends('lost');
  await expect.poll(() => tried).toBe(10);
  expect(await lock.held('b')).toBe(0);
  goOn();
  await expect(lock.held('a')).rejects.toBe(gone);
  expect(await lock.held('b')).toBe(0);
  expect(await Promise.race([lock.lost, Promise.resolve('not lost')])).toBe('not lost');
  await lock.release();
});

test('a worker waits for the lock of a control plane that is being taken again', async () => {
  const a = controlPlane(host('a', [], neverBack));
  const lock = await lockHosts([a, host('b', [])], holder, clock());
  a.ends('lost');
  await lock.lost;
  await expect(lock.held('b')).rejects.toBe(gone);
  await lock.release();
});

test('a released lock is not reported as lost', async () => {
  const log: string[] = [];
  const lock = await lockHosts([host('a', log)], holder, soon);
  await lock.release();
  await Promise.resolve();
  expect(log).toEqual(['a locked', 'a released']);
});

test('a host that another run has locked is refused, without taking a lock', async () => {
  const answering = (name: string, said: string) => ({ ...host(name, []), run: () => Promise.resolve(said) });
  await refuseLocked([answering('a', ''), answering('b', '')]);
  await expect(refuseLocked([answering('a', ''), answering('b', 'by bob@desk (pid 1)\n')])).rejects.toThrow(
    'b: refused: locked: held by bob@desk (pid 1)',
  );
});

describe('before a change, the locks of the run', () => {
  const mine = 'by alice@laptop (pid 7) since 2026-01-01T00:00:00Z: kbuild up\n';

  test('include one that is being taken again: the change waits for it, and the loss is counted', async () => {
    const log: string[] = [];
    const a = host('a', log);
    const lock = await lockHosts([a], holder, soon);
    expect(await lock.held('a')).toBe(0);
    a.ends('lost');
    await settled(log, 2);
    expect(await lock.held('a')).toBe(1);
    await lock.release();
  });

  test('fail the change when another run has taken a lost lock', async () => {
    const log: string[] = [];
    const a = host('a', log, ['locked', 'held by bob']);
    const lock = await lockHosts([a], holder, soon);
    a.ends(0);
    await lock.lost;
    await expect(lock.held('a')).rejects.toThrow('a: refused: locked: held by bob');
  });

  test('are verified on the host after the machine slept: the lock may still be held', async () => {
    const log: string[] = [];
    const a = host('a', log);
    const lock = await lockHosts([a], holder, soon);
    a.sleeps(mine);
    expect(await lock.held('a')).toBe(0);
    expect(log).toEqual(['a locked', 'a trusted']);
    await lock.release();
  });

  test('are verified on the host after the machine slept: another run may have taken the lock unnoticed', async () => {
    const log: string[] = [];
    const a = host('a', log, ['locked', 'held by bob']);
    const lock = await lockHosts([a], holder, soon);
    a.sleeps('by bob@desk (pid 1) since then: kbuild up\n');
    await expect(lock.held('a')).rejects.toThrow('a: refused: locked: held by bob');
  });

  test('are verified at most once a second, also after the clock was set back', async () => {
    const log: string[] = [];
    const a = host('a', log);
    let now = 10_000;
    const lock = await lockHosts([a], holder, { ...soon, nowMs: () => now });
    const looksAt = async (ms: number) => {
      now = ms;
      a.sleeps(mine);
      await lock.held('a');
      return log.filter((line) => line === 'a trusted').length;
    };
    expect(await looksAt(10_000)).toBe(1);
    expect(await looksAt(10_999)).toBe(1);
    expect(await looksAt(11_000)).toBe(2);
    expect(await looksAt(5000)).toBe(3);
    await lock.release();
  });
});
