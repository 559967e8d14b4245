import { expect, test } from 'vitest';
import { up } from '../../src/commands/up.phases.ts';
import { groups } from '../../src/engine/converge.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { Secret } from '../../src/shell/secret.ts';
import { cp1, hostOf, inventoryOf } from '../fakes/cluster.ts';

const phases = up(inventoryOf());

test('names of phases and steps are unique, since a change is known by them', () => {
  expect(new Set(phases.map(({ name }) => name)).size).toBe(phases.length);
  for (const { steps } of phases) expect(new Set(steps.map(({ name }) => name)).size).toBe(steps.length);
});

test('the founder goes through to the settings at its own pace; then all other hosts join while the pod network starts', () => {
  expect(groups(phases)[0]!.map(({ name }) => name)).toEqual([
    'prepare',
    'former-balancers',
    'runtime',
    'packages',
    'images',
    'reach-etcd',
    'kubelet-certificates',
    'init',
    'settings',
  ]);
  expect(groups(phases)[1]!.map(({ name }) => name)).toEqual(['network', 'control-planes', 'join']);
});

test('tokens of interrupted runs are deleted when no host joins with them any more', () => {
  const at = (step: string) =>
    groups(phases).findIndex((group) => group.some(({ steps }) => steps.some(({ name }) => name === step)));
  expect(at('job-ended')).toBe(0);
  expect(at('no-leftover-tokens')).toBeGreaterThan(at('kubeadm-join'));
  expect(at('no-leftover-tokens')).toBeGreaterThan(0);
});

test.each<[string, Inventory['etcd']]>([
  [
    'of the user',
    { topology: 'external', endpoints: ['https://10.0.0.41:2379'], ca: 'CA', cert: 'CERT', key: Secret.of('KEY') },
  ],
  ['built by kbuild', { topology: 'built', endpoints: ['https://10.0.0.41:2379'] }],
])('an external etcd %s answers every control plane before kubeadm runs on any', (_, etcd) => {
  const cp2 = hostOf({ name: 'cp2', role: 'control-plane' });
  const inOrder = groups(up(inventoryOf({ etcd, hosts: [cp1, cp2] })));
  const at = (name: string) => inOrder.findIndex((group) => group.some((phase) => phase.name === name));
  const reach = inOrder[at('reach-etcd')]!.find(({ name }) => name === 'reach-etcd')!;
  expect(reach.hosts.map(({ name }) => name)).toEqual(['cp1', 'cp2']);
  expect(reach.steps.map(({ name }) => name)).toEqual([
    'undo-may-begin',
    'undo-half-finished',
    'etcd-client-certificate',
    'etcd-curl',
    'etcd-client-certificates',
    'external-etcd-ready',
  ]);
  expect(at('init')).toBe(at('reach-etcd') + 1);
  const init = inOrder[at('init')]!.find(({ name }) => name === 'init')!;
  expect(init.steps.map(({ name }) => name)).not.toContain('undo-half-finished');
  expect(phases.find(({ name }) => name === 'reach-etcd')!.hosts).toEqual([]);
});

test('one control plane at a time is founded, and few kubelets are restarted at once', () => {
  const of = (name: string) => phases.find((phase) => phase.name === name)!.concurrency;
  expect([of('init'), of('kubelets')]).toEqual([1, 1]);
});

test('what kbuild balances with stands before any host goes on to kubeadm', () => {
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
