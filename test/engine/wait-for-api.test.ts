import { describe, expect, test } from 'vitest';
import { isWait } from '../../src/engine/plan.ts';
import { inTurn, type NodeChange, rolling } from '../../src/engine/rolling.ts';
import type { Step } from '../../src/engine/step.ts';
import { rebootRoll } from '../../src/host/reboot.step.ts';
import { hopsThrough } from '../../src/upgrade/hop.ts';
import { linuxUpgradeRoll } from '../../src/upgrade/node.step.ts';
import { clusterOf, cp1, fleetIn, hostOf, inventoryOf, joinedHost, nodeOf, targetOf } from '../fakes/cluster.ts';

const w1 = hostOf({ name: 'w1', address: '203.0.113.31' });
const inventory = inventoryOf({ hosts: [cp1, w1] });
const [hop] = hopsThrough('1.36.3', ['1.37.1']);
const options = { drain: { timeoutMs: 1000 }, losesPods: false, atOnce: 1 } as const;
const seen = joinedHost(w1, { bootId: 'now', pendingReboot: 'none' });
const down = fleetIn({ state: 'down', reason: 'timeout' }, joinedHost(cp1), seen);
const up = fleetIn(clusterOf({ nodes: [nodeOf({ name: 'w1', kubeletVersion: '1.36.3' })] }), joinedHost(cp1), seen);
const always: Step = { name: 'while-drained', diff: () => [{ summary: 'change it', apply: () => Promise.resolve() }] };

const stepsOf = (change: NodeChange<'linux'>): readonly Step[] =>
  rolling('linux', inTurn('nodes', 'Nodes', [w1]), change).flatMap(({ steps }) => steps as readonly Step[]);
const nothing = { before: [], whileDrained: [], gates: [] };
const upgraded = stepsOf(linuxUpgradeRoll(hop!, options, { ...nothing, whileDrained: [always] }));
const reboots = { hosts: [w1], from: new Map([['w1', 'now']]) };
const rebooted = stepsOf(rebootRoll(reboots, options, nothing)).slice(1);

/** What each step does there: `waits`, `changes`, or nothing. */
const outcomes = (steps: readonly Step[], fleet: typeof up): readonly string[] =>
  steps.map((step) => {
    const changes = step.diff(targetOf(inventory, w1, fleet));
    return `${step.name} ${changes.length === 0 ? 'has nothing to do' : changes.every(isWait) ? 'waits' : 'changes'}`;
  });

describe('while the API does not answer', () => {
  test('the upgrade of a node waits before each of its steps: a drain that is not observed is not skipped', () => {
    expect(outcomes(upgraded, up).slice(0, 3)).toEqual([
      'drained changes',
      'while-drained changes',
      'kubelet-upgraded changes',
    ]);
    expect(outcomes(upgraded, down)).toEqual(upgraded.map(({ name }) => `${name} waits`));
  });

  test('a host is not restarted before it is known whether its node is drained', () => {
    expect(outcomes(rebooted, up)[0]).toBe('drained changes');
    expect(outcomes(rebooted, down)[0]).toBe('drained waits');
    expect(outcomes(rebooted, down).slice(-2)).toEqual(['uncordoned waits', 'workloads-back waits']);
  });

  test('each of these steps waits for minutes, not for one look', () => {
    expect(upgraded.filter(({ settleMs = 0 }) => settleMs < 60_000)).toEqual([]);
  });
});
