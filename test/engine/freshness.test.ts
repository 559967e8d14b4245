import { beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER, Freshness, reading } from '../../src/engine/freshness.ts';

let nowMs: number;
let freshness: Freshness;
const MINE = reading('w1', 'packages');
const OTHER = reading('w2', 'packages');

beforeEach(() => {
  nowMs = 0;
  freshness = new Freshness(() => nowMs);
  for (const one of [MINE, OTHER, CLUSTER]) freshness.take(one, freshness.begin());
});

const stale = () => [MINE, OTHER, CLUSTER].filter((one) => freshness.isStale(one));

describe('when what is old of one host expires', () => {
  test('what was observed within three seconds stays', () => {
    nowMs = 3000;
    freshness.expireOldOf(['w1']);
    expect(stale()).toEqual([]);
  });

  test('the rest of this host and of the cluster goes, and other hosts keep what they have', () => {
    nowMs = 3001;
    freshness.expireOldOf(['w1']);
    expect(stale()).toEqual([MINE, CLUSTER]);
  });

  test('what was stale stays stale', () => {
    freshness.expireCluster();
    freshness.expireOldOf(['w1']);
    expect(stale()).toEqual([CLUSTER]);
  });
});
