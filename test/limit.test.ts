import { describe, expect, test } from 'vitest';
import { eachLimit, limiter } from '../src/limit.ts';

describe('a limiter', () => {
  test('gives places in the order of asking', async () => {
    const { take } = limiter(1);
    const order: string[] = [];
    const first = await take();
    const others = ['second', 'third'].map(async (name) => {
      const done = await take();
      order.push(name);
      done();
    });
    expect(order).toEqual([]);
    first();
    await Promise.all(others);
    expect(order).toEqual(['second', 'third']);
  });

  test('takes a place back once', async () => {
    const { take, nextFreed } = limiter(1);
    const done = await take();
    const freed = nextFreed();
    done();
    done();
    await freed;
    await take();
    const outcome = await Promise.race([take().then(() => 'taken'), Promise.resolve('waits')]);
    expect(outcome).toBe('waits');
  });

  test('gives the place back when the work fails', async () => {
    const { run } = limiter(1);
    await expect(run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await run(() => Promise.resolve('done'))).toBe('done');
  });
});

test('work on a list runs on so many items at once, and its results keep the order of the items', async () => {
  let atOnce = 0;
  let most = 0;
  const results = await eachLimit([3, 1, 2, 0], 2, async (item) => {
    most = Math.max(most, ++atOnce);
    await new Promise((resolve) => setTimeout(resolve, item));
    atOnce--;
    if (item === 2) throw new Error('two');
    return item;
  });
  expect(most).toBe(2);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([
    3,
    1,
    'failed',
    0,
  ]);
});
