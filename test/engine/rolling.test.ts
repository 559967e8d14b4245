import { describe, expect, test } from 'vitest';
import { batchesOf, cordonsFirst, othersAreBack } from '../../src/engine/rolling.ts';
import { clusterOf, cp1, fleetIn, fleetOf, joinedHost } from '../fakes/cluster.ts';

const drain = { timeoutMs: 1000 };
const options = { drain, losesPods: false, atOnce: 2 };

describe('batches of workers', () => {
  const shown = (hosts: readonly string[], first: 'canary' | 'batch'): readonly string[] =>
    batchesOf(hosts, 2, first).map((batch) => `${String(batch.number)} ${batch.which}: ${batch.hosts.join(' ')}`);

  test('the first host is alone, the others come in batches', () => {
    expect(shown(['a', 'b', 'c', 'd'], 'batch')).toEqual([
      '1 batch 1 of 3: a',
      '2 batch 2 of 3: b c',
      '3 batch 3 of 3: d',
    ]);
  });

  test('a canary is not counted with the batches', () => {
    expect(shown(['a', 'b', 'c', 'd'], 'canary').slice(1)).toEqual(['1 batch 1 of 2: b c', '2 batch 2 of 2: d']);
    expect(batchesOf(['a'], 2, 'canary')).toMatchObject([{ number: 0, hosts: ['a'] }]);
    expect(batchesOf([], 2, 'canary')).toEqual([]);
  });

  test('a batch is cordoned as a whole, but a host alone or without a drain is not', () => {
    expect(cordonsFirst({ hosts: ['a', 'b'] }, options)).toBe(true);
    expect(cordonsFirst({ hosts: ['a'] }, options)).toBe(false);
    expect(cordonsFirst({ hosts: ['a', 'b'] }, { ...options, drain: 'no' })).toBe(false);
  });
});

test('others-are-back waits for its reason, for an API that is down, and for nothing on a host that is not due', () => {
  const summaries = (fleet: ReturnType<typeof fleetOf>, isDue = true): readonly string[] =>
    othersAreBack(
      () => 'wait for w2',
      () => isDue,
    )
      .diff({ fleet })
      .map(({ summary }) => summary);
  expect(summaries(fleetIn(clusterOf(), joinedHost(cp1)))).toEqual(['wait for w2']);
  expect(summaries(fleetIn(clusterOf(), joinedHost(cp1)), false)).toEqual([]);
  expect(summaries(fleetIn({ state: 'down', reason: 'refused' }, joinedHost(cp1)))).toEqual([
    'wait for the API server to answer (refused)',
  ]);
  expect(summaries(fleetOf(joinedHost(cp1)))).toEqual([]);
});
