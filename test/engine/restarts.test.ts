import { describe, expect, test } from 'vitest';
import type { PlannedChange } from '../../src/engine/plan.ts';
import { restartsOf } from '../../src/engine/restarts.ts';
import type { Restart } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { host } from './world.ts';

const workers = Array.from({ length: 20 }, (_, i) => host(`w${String(i + 1)}`));
const inventory = {
  hosts: [host('cp1', 'control-plane'), host('cp2', 'control-plane'), ...workers],
  rollout: { maxUnavailable: { percent: 10 }, drainTimeoutMs: 300_000, pauseMs: 0 },
} as unknown as Inventory;
const planned = (name: string, ...restarts: readonly Restart[]): PlannedChange => {
  const change = { summary: 's', restarts, apply: () => Promise.resolve() };
  return { phase: 'p', host: name, step: 's', summary: 's', change };
};
const kubelet = (name: string): PlannedChange => planned(name, { what: 'kubelet', hosts: [name], aboutMs: 10_000 });

test('the same restart of several hosts is listed once: control planes one after another, a tenth of the workers at once', () => {
  const changes = [kubelet('cp1'), kubelet('cp2'), ...workers.map(({ name }) => kubelet(name))];
  expect(restartsOf(inventory, changes)).toEqual([
    { what: 'kubelet', hosts: ['cp1', 'cp2'], aboutMs: 10_000, atOnce: 1 },
    { what: 'kubelet', hosts: workers.map(({ name }) => name), aboutMs: 10_000, atOnce: 2 },
  ]);
});

test('a change may set how many hosts restart at once, and each host is named once', () => {
  const proxy = { what: 'kube-proxy', hosts: ['cp1', 'w1', 'w2'], aboutMs: 20_000, atOnce: 1 };
  expect(restartsOf(inventory, [planned('cp1', proxy), planned('cp1', proxy)])).toEqual([proxy]);
});

test('changes that restart nothing have no restarts', () => {
  expect(restartsOf(inventory, [planned('w1')])).toEqual([]);
});

describe('with a pause between batches', () => {
  const pausing = { ...inventory, rollout: { ...inventory.rollout, pauseMs: 600_000 } };

  test('names it where workers restart in several batches', () => {
    const changes = [kubelet('cp1'), kubelet('cp2'), ...workers.map(({ name }) => kubelet(name))];
    expect(restartsOf(pausing, changes).map(({ hosts, pauseMs }) => [hosts.length, pauseMs])).toEqual([
      [2, undefined],
      [20, 600_000],
    ]);
  });

  test('names none for one batch, nor for what the control plane rolls', () => {
    const proxy = { what: 'kube-proxy', hosts: ['cp1', 'w1', 'w2'], aboutMs: 20_000, atOnce: 1 };
    const changes = [kubelet('w1'), kubelet('w2'), planned('cp1', proxy)];
    expect(restartsOf(pausing, changes).map(({ pauseMs }) => pauseMs)).toEqual([undefined, undefined]);
  });

  test('names it after the first worker, which an upgrade or a reboot changes alone', () => {
    const reboots = ['w1', 'w2'].map((name) =>
      planned(name, { what: 'host', hosts: [name], aboutMs: 60_000, atOnce: 2 }),
    );
    expect(restartsOf(pausing, reboots)).toEqual([
      { what: 'host', hosts: ['w1', 'w2'], aboutMs: 60_000, atOnce: 2, pauseMs: 600_000 },
    ]);
  });
});
