/** A host that logs in, keeps the connection and runs nothing: its disk, a mount or its login shell hangs. */
import { afterEach, describe, expect, test } from 'vitest';
import { NoAnswer } from '../../src/errors.ts';
import { sh } from '../../src/shell/sh.ts';
import { hangingHost, type HangingHost } from '../fakes/hanging-host.ts';

const hosts: HangingHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});

const started = async (...args: Parameters<typeof hangingHost>) => {
  const host = await hangingHost(...args);
  hosts.push(host);
  return host;
};

const SOON = { totalMs: 2000, silentMs: 100 };
const observe = { ...sh`true`, title: 'observe (81 probes)' };

describe('a host that hangs', () => {
  test('costs an observation its silence, and says what to do', async () => {
    const { remote } = await started(() => 'hang', { limits: { ask: SOON } });
    const error = await remote.ask(observe).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NoAnswer);
    expect(error).toMatchObject({
      message: 'w1: no answer within 0.1 s: observe (81 probes)',
      exitCode: 3,
      remedy: expect.stringContaining('find out what hangs') as string,
    });
  });

  test.each(['run', 'reveal', 'read', 'write', 'upload', 'download'] as const)(
    'costs what it was asked for alone: %s',
    async (method) => {
      const { remote, folder } = await started(() => 'hang', {
        limits: { ask: SOON, change: SOON, file: { totalMs: Infinity, silentMs: 100 } },
      });
      const call = {
        run: () => remote.run(observe),
        reveal: () => remote.reveal(observe),
        read: () => remote.read('/etc/x'),
        write: () => remote.write('/etc/x', 'y'),
        upload: () => remote.upload(new URL(import.meta.url).pathname, '/x'),
        download: () => remote.download('/x', `${folder}/x`),
      }[method];
      await expect(call()).rejects.toThrow(NoAnswer);
    },
  );

  test('is not waited for while it prints, until the limit of the whole command', async () => {
    const { remote } = await started(() => 'drip', { limits: { ask: { totalMs: 600, silentMs: 300 } } });
    const began = performance.now();
    await expect(remote.ask(observe)).rejects.toThrow('no answer within 0.3 s');
    expect(performance.now() - began).toBeGreaterThan(550);
  });

  test('keeps no place of a connection: what is asked later is sent', async () => {
    const { remote } = await started(({ script }) => (script.includes('echo later') ? 'answer' : 'hang'), {
      limits: { ask: SOON },
    });
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => remote.ask(observe)));
    expect(results.every((one) => one.status === 'rejected' && one.reason instanceof NoAnswer)).toBe(true);
    expect(await remote.run(sh`echo later`)).toBe('');
  });
});

describe('a job of a host that hangs', () => {
  test('is followed again on another connection when the host answers again', async () => {
    const { remote, connections } = await started(({ connections }) => (connections === 1 ? 'hang' : 'job'), {
      limits: { short: { totalMs: 100 } },
      silenceMs: 100,
    });
    expect(await remote.job('packages', observe)).toBe('done\n');
    expect(connections()).toBe(2);
  });

  test('is left to itself if the host goes on hanging: the next run finds it', async () => {
    const { remote } = await started(() => 'hang', { limits: { short: { totalMs: 50 } }, silenceMs: 50 });
    await expect(remote.job('packages', observe)).rejects.toThrow(NoAnswer);
  });

  test('may be silent for as long as it takes while the host answers', async () => {
    let questions = 0;
    let end = (): void => undefined;
    const askedTwice = new Promise<'job'>((resolve) => (end = () => resolve('job')));
    const { remote } = await started(
      ({ isJob }) => {
        if (isJob) return askedTwice;
        questions++;
        if (questions === 2) end();
        return 'answer';
      },
      { limits: { short: { totalMs: 60_000 } }, silenceMs: 50 },
    );
    expect(await remote.job('packages', observe)).toBe('done\n');
    expect(questions).toBeGreaterThanOrEqual(2);
  });
});

test('a lock of a host that hangs is not waited for', async () => {
  const { remote } = await started(() => 'hang', { limits: { short: { totalMs: 50 } }, silenceMs: 50 });
  await expect(remote.hold(observe)).rejects.toMatchObject({ retryable: true, exitCode: 3 });
});
