import { describe, expect, test } from 'vitest';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import { cordonOwner, hasStaleNotes, isDrained } from '../../src/cluster/nodes.ts';
import { reboot, rebootsOf } from '../../src/commands/reboot.phases.ts';
import { changesIn, plan } from '../../src/engine/plan.ts';
import {
  clusterOf,
  cp1,
  inventoryOf,
  joinedControlPlane,
  joinedWorker,
  memberOf,
  nodeOf,
  w1,
} from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';

const [then, now] = ['2026-11-01T10:00:00Z', '2026-11-27T18:00:00Z'];
const noted = (value: string, over: Partial<NodeView> = {}, cordoned = 'true'): NodeView =>
  nodeOf({
    name: 'w1',
    unschedulable: true,
    cordonedAt: now,
    annotations: { 'kbuild.dev/drained': value, 'kbuild.dev/cordoned': cordoned },
    ...over,
  });

const [cordonedThen, cordonedNow] = ['2026-11-01T09:59:58Z', '2026-11-27T17:59:58Z'];

describe('a note of a drain', () => {
  test.each([
    ['counts while its cordon stands', noted(now), true],
    ['does not count once the node takes pods', noted(now, { unschedulable: false, cordonedAt: '' }), false],
    ['does not count when the node was uncordoned, and cordoned again', noted(then), false],
    ['without a time counts where the cordon is the noted one', noted('true', {}, cordonedNow), true],
    ['without a time does not count when the node was cordoned again', noted('true', {}, cordonedThen), false],
    ['without a time, of an older version, does not count where the cordon has a time', noted('true'), false],
    ['counts where the taint has no time', noted(then, { cordonedAt: '' }), true],
  ])('%s', (_, node, counts) => {
    expect(isDrained(node)).toBe(counts);
    expect(hasStaleNotes(node)).toBe(!counts);
    expect(cordonOwner(node) === 'kbuild').toBe(counts);
  });
});

describe('the cordon of a drain that was cut off', () => {
  const cordoned = (value: string, over: Partial<NodeView> = {}): NodeView =>
    nodeOf({
      ...{ name: 'w1', unschedulable: true, cordonedAt: now },
      annotations: { 'kbuild.dev/cordoned': value },
      ...over,
    });

  test.each([
    ['is kbuild’s when the taint came with it', cordoned(cordonedNow), 'kbuild'],
    ['is kbuild’s while the node is not tainted yet', cordoned(cordonedNow, { cordonedAt: '' }), 'kbuild'],
    [
      'is kbuild’s when the taint of an earlier cordon still stood',
      cordoned(cordonedNow, { cordonedAt: then }),
      'kbuild',
    ],
    ['is an operator’s when the node was tainted long after it', cordoned(cordonedThen), 'operator'],
    ['is not known to be kbuild’s by a note without a time', cordoned('true'), 'unknown'],
    ['is an operator’s without a note', cordoned('', { annotations: {} }), 'operator'],
  ])('%s', (_, node, owner) => {
    expect(cordonOwner(node)).toBe(owner);
    expect(hasStaleNotes(node)).toBe(owner !== 'kbuild' && 'kbuild.dev/cordoned' in node.annotations);
  });

  test('leaves a stale note when an operator uncordons the node', () => {
    expect(hasStaleNotes(cordoned(cordonedNow, { unschedulable: false, cordonedAt: '' }))).toBe(true);
  });
});

test('a node whose drain was given up, and that an operator has cordoned since, is drained before its restart, and stays cordoned', () => {
  const inventory = inventoryOf({ hosts: [cp1, w1] });
  const planned = (node: NodeView): readonly string[] => {
    const seen = fleet({
      inventory,
      cluster: clusterOf({ nodes: [nodeOf({ name: 'cp1', role: 'control-plane' }), node], members: [memberOf(1)] }),
      facts: {
        cp1: { ...joinedControlPlane(), bootId: 'a', pendingReboot: 'none' },
        w1: { ...joinedWorker(), bootId: 'b', pendingReboot: [] },
      } as never,
    });
    const options = { drain: { timeoutMs: 1 }, losesPods: false, atOnce: 1 } as const;
    const phases = reboot(inventory, rebootsOf(seen, [cp1, w1], 'those that want it'), options, seen);
    return changesIn(plan(phases, inventory, seen).changes).map(({ summary }) => summary);
  };
  const stale = planned(noted(then));
  expect(stale).toContain('drain w1 (found Ready)');
  expect(stale).toContain('leave w1 cordoned, as an operator wants it');
  expect(planned(noted(now))).not.toContain('drain w1 (found Ready)');
  expect(planned(noted(now))).toContain('let w1 take pods again');
  const old = planned(noted('true'));
  expect(old).toContain('drain w1 (found Ready)');
  expect(old).toContain(
    'leave w1 cordoned: an older kbuild did not note which cordon was its own (to end it: kubectl uncordon w1)',
  );
});
