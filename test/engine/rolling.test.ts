import { describe, expect, test } from 'vitest';
import { annotation, noteForgotten, noteWritten, taint } from '../../src/engine/note.ts';
import {
  batchesOf,
  drainedByUp,
  inBatches,
  inTurn,
  type NodeChange,
  othersAreBack,
  rolling,
} from '../../src/engine/rolling.ts';
import type { Step } from '../../src/engine/step.ts';
import type { Taint } from '../../src/inventory/inventory.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  fleetOf,
  inventoryOf,
  joinedHost,
  nodeOf,
  nodesOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';

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
    const cordonsOf = (drains: boolean): readonly (string | undefined)[] =>
      inBatches(['a', 'b', 'c'], { atOnce: 2, first: 'batch', cordons: drains }, () => ({ name: 'n', title: 't' })).map(
        ({ cordon }) => cordon?.title,
      );
    expect(cordonsOf(true)).toEqual([undefined, 'Cordon workers, batch 2 of 2']);
    expect(cordonsOf(false)).toEqual([undefined, undefined]);
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

test('no node is drained without its note: both wait while the API does not answer, and so does the way back', () => {
  const [inventory, host] = [inventoryOf({ hosts: [cp1, w1] }), w1];
  const note = annotation('kbuild.dev/test');
  const always = (): true => true;
  const change: NodeChange<'linux'> = {
    ...{ isDue: always, before: [], whileDrained: [], gates: [], drain: drainedByUp },
    note: {
      written: noteWritten('noted', note, () => ({ summary: 'note it', text: 'x' })),
      forgotten: noteForgotten('forgotten', note, { summary: () => 'forget it', willStand: always }),
      isOurs: always,
    },
  };
  const steps = rolling('linux', inTurn('nodes', 'Nodes', [host]), change)[0]!.steps as readonly Step[];
  const summaries = (cluster: Parameters<typeof fleetIn>[0]): readonly (string | undefined)[] =>
    steps.map(
      ({ diff }) => diff(targetOf(inventory, host, fleetIn(cluster, joinedHost(cp1), joinedHost(w1))))[0]?.summary,
    );
  expect(summaries({ state: 'down', reason: 'refused' })).toEqual(
    steps.map(() => 'wait for the API server to answer (refused)'),
  );
  expect(summaries(clusterOf({ nodes: nodesOf(cp1, w1) })).slice(0, 2)).toEqual(['note it', 'drain w1 (found Ready)']);
});

test('a note that does not stand yet is foreseen to be forgotten, and removed once it stands', () => {
  const inventory = inventoryOf({ hosts: [cp1, w1] });
  const step = noteForgotten<'linux'>('forgotten', taint('kbuild.dev/test', 'PreferNoSchedule'), {
    summary: () => 'forget it',
    willStand: () => true,
  });
  const changeOf = (taints: readonly Taint[]) =>
    step.diff(
      targetOf(
        inventory,
        w1,
        fleetIn(clusterOf({ nodes: [nodeOf({ name: 'w1', taints })] }), joinedHost(cp1), joinedHost(w1)),
      ),
    )[0];
  expect(changeOf([])).toEqual({ summary: 'forget it', foreseen: true });
  expect(changeOf([{ key: 'kbuild.dev/test', value: '', effect: 'PreferNoSchedule' }])?.apply).toBeTypeOf('function');
});
