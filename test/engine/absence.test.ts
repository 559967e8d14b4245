import { describe, expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { up } from '../../src/commands/up.phases.ts';
import { plan, withoutAbsent } from '../../src/engine/plan.ts';
import type { Change, Phase, Step } from '../../src/engine/step.ts';
import { ConnectError } from '../../src/errors.ts';
import type { Host, LinuxHost } from '../../src/inventory/inventory.ts';
import { clusterOf, cp1, cp2, cp3, fleetIn, freshHost, inventoryOf, joinedHost, nodeOf, w1 } from '../fakes/cluster.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2, cp3, w1] });
const cluster = clusterOf({
  nodes: [cp1, cp2, w1].map(({ name, role }) => nodeOf({ name, role: role === 'worker' ? 'worker' : 'control-plane' })),
});

const without = (names: readonly string[], seen: Fleet['hosts']): Fleet => ({
  hosts: seen.filter(({ host }) => !names.includes(host.name)),
  unreachable: inventory.hosts
    .filter(({ name }) => names.includes(name))
    .map((host: Host) => ({ host, error: new ConnectError(host.name, 'no answer', { retryable: true }) })),
  cluster,
});
const all = fleetIn(cluster, joinedHost(cp1), joinedHost(cp2), freshHost(cp3), joinedHost(w1)).hosts;

const step = (name: string, change: Partial<Change> = {}, more: Partial<Step> = {}): Step => ({
  name,
  diff: ({ host }) => [{ summary: `${name} ${host.name}`, ...change }],
  ...more,
});
const phase = (name: string, hosts: readonly LinuxHost[], steps: readonly Step[]): Phase => ({
  name,
  title: name,
  kind: 'linux',
  hosts,
  steps,
});
const phases = [
  phase(
    'all',
    [cp1, cp2, cp3, w1],
    [step('label'), step('restart', { disrupts: true }), step('renew', {}, { needs: 'whole-control-plane' })],
  ),
  phase('edit', [cp1], [step('apply', { disrupts: true })]),
];
const goesOn = (fleet: Fleet): readonly string[] =>
  plan(withoutAbsent(phases, inventory, fleet).phases, inventory, fleet).changes.map(({ summary }) => summary);
const waiting = (fleet: Fleet): readonly string[] =>
  withoutAbsent(phases, inventory, fleet).waiting.map(({ host, summary }) => `${host}: ${summary}`);

describe('a run without some hosts', () => {
  test('leaves an absent worker out, and nothing waits for it', () => {
    const fleet = without(['w1'], all);
    expect(goesOn(fleet).filter((summary) => summary.endsWith('w1'))).toEqual([]);
    expect(goesOn(fleet)).toHaveLength(10);
    expect(waiting(fleet)).toEqual([]);
  });

  test('changes workers while a control plane is absent; what restarts another control plane waits', () => {
    const fleet = without(['cp2'], all);
    expect(goesOn(fleet)).toEqual(['label cp1', 'label w1', 'restart w1']);
    expect(waiting(fleet)).toEqual([
      'cp3: become a control plane',
      'cp1: restart cp1',
      'cp1: renew cp1',
      'w1: renew w1',
      'cp1: apply cp1',
    ]);
  });

  test('does not touch a control plane that has yet to join: no step of it must wait for its node', () => {
    const fleet = without(['cp2'], all);
    const { phases: left } = withoutAbsent(phases, inventory, fleet);
    expect(left.flatMap(({ hosts }) => hosts.map(({ name }) => name))).toEqual(['cp1', 'w1', 'cp1']);
  });

  test('says nothing of a newcomer that the run does not mean', () => {
    const fleet = without(['cp2'], all);
    expect(withoutAbsent([phase('w', [w1], [step('label')])], inventory, fleet).waiting).toEqual([]);
  });
});

test('what waits for every control plane, of all steps of `up`', () => {
  const etcd = { topology: 'built', endpoints: ['https://10.0.0.41:2379'] } as const;
  const phases = up(inventoryOf({ etcd }));
  // There the runtime of every host waits, so that no node is drained for a change that waits.
  const marked = phases
    .filter(({ name }) => name !== 'runtime-version')
    .flatMap(({ steps }) =>
      (steps as readonly Step[]).filter(({ needs }) => needs !== undefined).map(({ name }) => name),
    );
  expect(marked).toEqual(['kube-vip', 'etcd-endpoints']);
});

describe('what comes with a change that waits', () => {
  test('drains no other control plane for a restart that waits; workers are drained', () => {
    const fleet = without(['cp2'], all);
    const drains = [
      phase('restarts', [cp1, w1], [step('drain', { drains: true }), step('restart', { disrupts: true })]),
    ];
    const { phases: left, waiting: held } = withoutAbsent(drains, inventory, fleet);
    expect(plan(left, inventory, fleet).changes.map(({ summary }) => summary)).toEqual(['drain w1', 'restart w1']);
    expect(held.map(({ summary }) => summary)).toEqual(['drain cp1', 'restart cp1']);
  });

  test('does nothing of a phase that needs the whole control plane, and keeps a step on workers that only others have wait', () => {
    const fleet = without(['cp2'], all);
    const of = [
      {
        ...phase('upgrade', [cp1], [step('package'), step('restart', { disrupts: true })]),
        needs: 'whole-control-plane',
      },
      phase('notes', [cp1, w1], [step('note', {}, { needs: 'whole-control-plane-unless-worker' })]),
    ] as const;
    const { phases: left, waiting: held } = withoutAbsent(of, inventory, fleet);
    expect(plan(left, inventory, fleet).changes.map(({ summary }) => summary)).toEqual(['note w1']);
    expect(held.map(({ summary }) => summary)).toEqual(['package cp1', 'restart cp1', 'note cp1']);
  });
});
