import { describe, expect, test } from 'vitest';
import { changeRefusals } from '../../src/cluster/host.refusal.ts';
import { standing } from '../../src/cluster/standing.ts';
import { clustersOf } from '../../src/cluster/standings.ts';
import {
  CA,
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  inventoryOf,
  joinedHost,
  nodesOf,
  OTHER_CA,
  targetOf,
  w1,
} from '../fakes/cluster.ts';

/** What ca.crt of a host may hold while the CA is rotated: the old one is CA, the new one is OTHER_CA. */
const STATES = {
  old: { caFingerprint: CA, otherCas: [] },
  'old, new': { caFingerprint: CA, otherCas: [OTHER_CA] },
  'new, old': { caFingerprint: OTHER_CA, otherCas: [CA] },
  new: { caFingerprint: OTHER_CA, otherCas: [] },
} as const;
type State = keyof typeof STATES;
const order = Object.keys(STATES) as readonly State[];

/** Any two neighbours in the order of a rotation: a rotation moves no host on before all are as far as the one before. */
const neighbours = order.flatMap((one, at) => order.slice(at, at + 2).map((other): [State, State] => [one, other]));
const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });

describe('while the CA of the cluster is rotated', () => {
  test.each([...neighbours, ...neighbours.map(([one, other]): [State, State] => [other, one])])(
    'hosts that trust %s, and hosts that trust %s are of one cluster',
    (one, other) => {
      const live = clusterOf({ ...STATES[one], nodes: nodesOf(cp1, cp2, w1) });
      for (const cluster of [live, { state: 'down', reason: 'refused' } as const]) {
        const seen = (host: typeof cp1, state: State) => joinedHost(host, STATES[state]);
        const fleet = fleetIn(cluster, seen(cp1, one), seen(cp2, other), seen(w1, other));
        for (const host of [cp1, cp2, w1]) expect(standing(targetOf(inventory, host, fleet))).toBe('joined');
        expect(changeRefusals(inventory, fleet, ['cp1', 'cp2', 'w1'])).toEqual([]);
      }
    },
  );

  test('kubernetes.adopt may name either of the two', () => {
    const fleet = fleetIn(
      clusterOf({ ...STATES['new, old'], name: 'other' }),
      joinedHost(cp1, { ...STATES['new, old'], kubeconfigCluster: { name: 'other', server: '' } }),
    );
    for (const adopt of [CA, OTHER_CA]) {
      const adopting = inventoryOf({ kubernetes: { ...inventory.kubernetes, adopt } });
      expect(changeRefusals(adopting, fleet, ['cp1'])).toEqual([]);
    }
    const adopting = inventoryOf({ kubernetes: { ...inventory.kubernetes, adopt: `sha256:${'c'.repeat(64)}` } });
    expect(changeRefusals(adopting, fleet, ['cp1']).length).toBeGreaterThan(0);
  });
});

test('hosts that trust the old CA alone, and hosts that trust the new one alone, are of two clusters', () => {
  const fleet = fleetIn(clusterOf(STATES.old), joinedHost(cp1, STATES.old), joinedHost(cp2, STATES.new));
  expect(changeRefusals(inventory, fleet, [])[0]!.message).toMatch(/the hosts belong to 2 clusters.*cp1: .*; cp2: /);
});

test('sets are joined by any set that has something in common with both', () => {
  const sets = [['a'], ['c'], ['b', 'c'], ['a', 'b'], ['x']].map((cas) => ({ cas }));
  expect(clustersOf(sets).map(({ cas }) => [...cas].sort())).toEqual([['a', 'b', 'c'], ['x']]);
});
