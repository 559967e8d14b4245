import { expect, test } from 'vitest';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import { uncordoned } from '../../src/engine/workloads.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, nodeOf, targetOf, w1 } from '../fakes/cluster.ts';

const inventory = inventoryOf({ hosts: [cp1, w1] });
const summaries = (worker: Partial<NodeView>): readonly (readonly [string, boolean])[] => {
  const nodes = [nodeOf({ name: 'cp1', role: 'control-plane' }), nodeOf({ name: 'w1', ...worker })];
  const fleet = fleetIn(clusterOf({ nodes }), joinedHost(cp1), joinedHost(w1));
  return uncordoned(() => false)
    .diff(targetOf(inventory, w1, fleet))
    .map(({ summary, apply }) => [summary, apply !== undefined]);
};
const taints = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const }];

test('a node that kbuild drained takes pods again', () => {
  const drained = { unschedulable: true, annotations: { 'kbuild.dev/drained': 'true', 'kbuild.dev/cordoned': 'true' } };
  expect(summaries({ ...drained, taints })).toEqual([['let w1 take pods again', true]]);
});

test('the taint of its cordon is waited for: until it is gone no pod is placed there', () => {
  expect(summaries({ taints })).toEqual([['wait until pods can be placed on w1 again', false]]);
  expect(summaries({})).toEqual([]);
});

test('an operator’s cordon stays, and is not waited for', () => {
  expect(summaries({ unschedulable: true, taints })).toEqual([]);
});
