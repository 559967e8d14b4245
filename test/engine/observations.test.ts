import { expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { ClusterUp, ClusterView } from '../../src/cluster/fleet/view.ts';
import { observations } from '../../src/engine/observations.ts';
import { FactError } from '../../src/errors.ts';
import { clusterOf } from '../fakes/cluster.ts';

/** A cluster whose every observation is noted with its parts; `version` and `leftoverTokens` tell the number of the observation. */
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

test('a part of the cluster is observed only for a question that reads it', async () => {
  const { looks, observed, ask } = watched();
  observed.expireCluster();
  expect(await ask(({ version }) => version)).toBe('1');
  expect(await ask(({ version }) => version)).toBe('1');
  expect(await ask(({ version, leftoverTokens }) => [version, ...leftoverTokens])).toEqual(['2', '2']);
  expect(looks).toEqual(['cluster', 'cluster leftoverTokens']);
});

test('a part that was not observed again is never taken for what the cluster has now', async () => {
  const { looks, observed, ask } = watched();
  expect(await ask(({ leftoverTokens }) => leftoverTokens)).toEqual(['0']);
  observed.expireCluster();
  await ask(({ version }) => version);
  expect(await ask(({ leftoverTokens }) => leftoverTokens)).toEqual(['2']);
  expect(looks).toHaveLength(2);
});

test('after a cluster that was down, a part that was not read is unknown, not what it was before', async () => {
  const { observed, ask } = watched(['down']);
  observed.expireCluster();
  expect(await ask(({ version }) => version)).toBe('down');
  observed.expireCluster();
  expect(await ask(({ version }) => version)).toBe('2');
  const { cluster } = observed.fleet();
  expect(() => cluster.state === 'up' && cluster.leftoverTokens).toThrow(FactError);
});

test('a wait for a node costs no look at etcd, pods or other API servers', async () => {
  const { looks, observed, ask } = watched();
  observed.expireCluster();
  await ask(({ nodes }) => nodes);
  observed.expireCluster();
  await ask(({ members, alarms }) => [members, alarms]);
  expect(looks).toEqual(['cluster nodes', 'cluster etcd']);
});

test('an etcd beside the API that was not asked for stays as it was seen, while the API is down too', async () => {
  const etcd = { state: 'up', via: 'etcd1', members: [], alarms: [] } as const;
  const observed = observations(
    { hosts: [], unreachable: [], cluster: { ...clusterOf(), etcd } },
    {
      facts: () => Promise.resolve({}),
      cluster: () => Promise.resolve({ state: 'down', reason: 'no answer' }),
      clusterFacts: [],
      nowMs: () => 0,
    },
  );
  observed.expireCluster();
  expect((await observed.evaluate(({ cluster }) => cluster.state)).value).toBe('down');
  expect(observed.fleet().cluster.etcd).toEqual(etcd);
});

test('before a change is made, all that changes read of the cluster is current, and not what costs the most', async () => {
  const { looks, observed } = watched();
  observed.expireCluster();
  const due = ({ cluster }: Fleet) =>
    cluster.state === 'up' && cluster.nodes.length > 0 ? [() => cluster.members] : [];
  expect((await observed.evaluate(due)).value).toHaveLength(1);
  await observed.evaluate(due, 'change');
  expect(looks).toEqual(['cluster nodes', 'cluster pods etcd endpoint apiServers kubeletRequests']);
});

test('before a change that has nothing to do with the cluster, the cluster is not observed', async () => {
  const { looks, observed } = watched();
  observed.expireCluster();
  await observed.evaluate(({ hosts }) => hosts.length, 'change');
  expect(looks).toEqual([]);
});

test('the first view of a cluster after none is whole, but for what costs the most', async () => {
  const { looks, observed, ask } = watched(['down']);
  observed.expireCluster();
  await ask(({ version }) => version);
  observed.expireCluster();
  await ask(({ version }) => version);
  observed.expireCluster();
  await ask(({ version }) => version);
  const whole = 'cluster nodes pods etcd endpoint apiServers kubeletRequests';
  expect(looks).toEqual(['cluster', whole, 'cluster']);
});
