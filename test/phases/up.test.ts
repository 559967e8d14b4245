import { expect, test } from 'vitest';
import { groups } from '../../src/engine/converge.ts';
import { up } from '../../src/phases/up.ts';
import { inventoryOf } from '../fakes/cluster.ts';

const phases = up(inventoryOf());

test('names of phases and steps are unique, since a change is known by them', () => {
  expect(new Set(phases.map(({ name }) => name)).size).toBe(phases.length);
  for (const { steps } of phases) expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
});

test('the founder goes through to the settings at its own pace; then everybody joins while pods are connected', () => {
  expect(groups(phases)[0]!.map(({ name }) => name)).toEqual([
    'prepare',
    'former-balancers',
    'runtime',
    'packages',
    'images',
    'init',
    'settings',
  ]);
  expect(groups(phases)[1]!.map(({ name }) => name)).toEqual(['network', 'control-planes', 'join']);
});

test('tokens of interrupted runs are deleted when nobody joins any more, with the job of such a run neither', () => {
  const at = (step: string) =>
    groups(phases).findIndex((group) => group.some(({ steps }) => steps.some(({ name }) => name === step)));
  expect(at('job-ended')).toBe(0);
  expect(at('no-leftover-tokens')).toBeGreaterThan(at('kubeadm-join'));
  expect(at('no-leftover-tokens')).toBeGreaterThan(0);
});

test('one control plane at a time is founded, and few kubelets are restarted at once', () => {
  const of = (name: string) => phases.find((phase) => phase.name === name)!.concurrency;
  expect([of('init'), of('kubelets')]).toEqual([1, 1]);
});

test('what kbuild balances with stands before anybody goes on to kubeadm', () => {
  const loadBalancer = {
    kind: 'keepalived',
    address: '10.0.0.100',
    port: 8443,
    healthPort: 8404,
    routerId: 100,
  } as const;
  const inOrder = groups(up(inventoryOf({ loadBalancer }))).map((group) => group.map(({ name }) => name));
  // Former balancers stop when others have the address.
  expect(inOrder.slice(0, 2)).toEqual([['prepare', 'balancer-packages', 'load-balancer'], ['former-balancers']]);
  expect(inOrder[2]![0]).toBe('runtime');
});
