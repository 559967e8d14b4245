import { describe, expect, test } from 'vitest';
import { retried, until, type Waiting } from '../src/wait.ts';

/** A clock that only a pause moves. */
function clock(everyMs = 10): Waiting & { readonly pauses: readonly number[] } {
  const pauses: number[] = [];
  const pause = (ms: number) => {
    pauses.push(ms);
    return Promise.resolve();
  };
  return { pause, nowMs: () => pauses.reduce((sum, ms) => sum + ms, 0), everyMs, pauses };
}

describe('until', () => {
  test('returns the first value, and does not pause after it', async () => {
    const waiting = clock();
    const answers = [undefined, undefined, 'ready', 'later'];
    expect(await until(() => Promise.resolve(answers.shift()), 1000, waiting)).toBe('ready');
    expect(waiting.pauses).toEqual([10, 10]);
  });

  test('returns undefined at the deadline', async () => {
    const waiting = clock();
    expect(await until<string>(() => Promise.resolve(undefined), 30, waiting)).toBeUndefined();
    expect(waiting.pauses).toEqual([10, 10, 10]);
  });

  test('gently: pauses as long as the observation took, 5 s at most, and never shorter than usual', async () => {
    const pauses: number[] = [];
    const took = [5, 800, 3_600_000];
    let nowMs = 0;
    const observe = () => {
      nowMs += took[pauses.length] ?? 0;
      return Promise.resolve(pauses.length === took.length ? 'ready' : undefined);
    };
    const pause = (ms: number) => Promise.resolve(void pauses.push(ms));
    await until(observe, Infinity, { pause, nowMs: () => nowMs, everyMs: 10, isGentle: true });
    expect(pauses).toEqual([10, 800, 5000]);
  });

  test('observes once when the deadline has passed', async () => {
    expect(await until(() => Promise.resolve('ready'), -1, clock())).toBe('ready');
  });

  test('throws the reason of its signal after the pause that it ended, and observes no more', async () => {
    const ending = new AbortController();
    const pause = () => {
      ending.abort(new Error('the run ends'));
      return Promise.resolve();
    };
    let observations = 0;
    const observe = () => {
      observations += 1;
      return Promise.resolve(undefined);
    };
    await expect(until(observe, 1000, { ...clock(), pause, signal: ending.signal })).rejects.toThrow('the run ends');
    expect(observations).toBe(1);
  });

  test('rejects as soon as the condition does', async () => {
    await expect(until(() => Promise.reject(new Error('broken')), 1000, clock())).rejects.toThrow('broken');
  });
});

describe('retried work', () => {
  const failing = (times: number) => {
    let failed = 0;
    return () => (failed++ < times ? Promise.reject(new Error(`failure ${String(failed)}`)) : Promise.resolve('done'));
  };

  test('returns the result of the first try that succeeds', async () => {
    expect(await retried(failing(2), () => true, 1000, clock())).toBe('done');
  });

  test('throws an error that is not retryable at once', async () => {
    await expect(retried(failing(2), () => false, 1000, clock())).rejects.toThrow('failure 1');
  });

  test('throws the last error at the deadline', async () => {
    await expect(retried(failing(99), () => true, 20, clock())).rejects.toThrow('failure 3');
  });
});
