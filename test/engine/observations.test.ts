import { expect, test } from 'vitest';
import { observations } from '../../src/engine/observations.ts';
import type { ClusterUp, ClusterView } from '../../src/facts/cluster.ts';
import { FactError } from '../../src/errors.ts';
import { clusterOf } from '../fakes/cluster.ts';

/** A cluster whose every observation is noted with its costly parts; `version` and `leftoverTokens` tell the number of the observation. */
function watched(states: readonly ClusterView['state'][] = []) {
  const looks: string[] = [];
  const view = (parts: readonly string[]): ClusterView => {
    const number = String(looks.length);
    if (states[looks.length - 1] === 'down') return { state: 'down', reason: 'no answer' };
    const seen = clusterOf({ version: number, leftoverTokens: [number] });
    if (parts.includes('leftoverTokens')) return seen;
    const unasked = (): never => {
      throw new FactError('cp1', 'tokens', 'the host sent no answer');
    };
    return Object.defineProperty({ ...seen }, 'leftoverTokens', { get: unasked, configurable: true });
  };
  const observed = observations(
    { hosts: [], unreachable: [], cluster: view(['leftoverTokens']) },
    {
      facts: () => Promise.resolve({}),
      cluster: (_, parts) => {
        looks.push(['cluster', ...parts].join(' '));
        return Promise.resolve(view(parts));
      },
      clusterFacts: [],
      nowMs: () => 0,
    },
  );
  const ask = async <R>(question: (cluster: ClusterUp) => R): Promise<R | 'down'> =>
    (await observed.evaluate(({ cluster }) => (cluster.state === 'up' ? question(cluster) : 'down'))).value;
  return { looks, observed, ask };
}

test('a costly part of the cluster is observed only for a question that reads it', async () => {
  const { looks, observed, ask } = watched();
  observed.expireCluster();
  expect(await ask(({ version }) => version)).toBe('1');
  expect(await ask(({ version }) => version)).toBe('1');
  expect(await ask(({ version, leftoverTokens }) => [version, ...leftoverTokens])).toEqual(['2', '2']);
  expect(looks).toEqual(['cluster', 'cluster leftoverTokens']);
});

test('a costly part that was not observed again is never taken for what the cluster has now', async () => {
  const { looks, observed, ask } = watched();
  expect(await ask(({ leftoverTokens }) => leftoverTokens)).toEqual(['0']);
  observed.expireCluster();
  await ask(({ version }) => version);
  expect(await ask(({ leftoverTokens }) => leftoverTokens)).toEqual(['2']);
  expect(looks).toHaveLength(2);
});

test('after a cluster that was down, a costly part that nobody has read is unknown, not what it was before', async () => {
  const { observed, ask } = watched(['down']);
  observed.expireCluster();
  expect(await ask(({ version }) => version)).toBe('down');
  observed.expireCluster();
  expect(await ask(({ version }) => version)).toBe('2');
  const { cluster } = observed.fleet();
  expect(() => cluster.state === 'up' && cluster.leftoverTokens).toThrow(FactError);
});
