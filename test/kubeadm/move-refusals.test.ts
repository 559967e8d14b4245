import { expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { refusedOfLive } from '../../src/cluster/live.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { moveReasons } from '../../src/kubeadm/endpoint.refusal.ts';
import { nodeOf, nodesOf, podOf } from '../fakes/cluster.ts';
import { fleetOf, fresh, hosts, inventory } from './endpoint-world.ts';

const virtual: Inventory = {
  ...inventory,
  loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 9443, routerId: 100 },
};
const messages = (of: Inventory, fleet: Fleet) =>
  refusedOfLive(moveReasons, { inventory: of, fleet }).map(({ message }) => message);

test('a cluster that is well may move', () => {
  expect(messages(inventory, fleetOf(fresh()))).toEqual([]);
  expect(messages(virtual, fleetOf(fresh()))).toEqual([]);
});

test('an endpoint behind which another cluster is refused, whatever name its certificate lacks', () => {
  const world = fresh();
  world.answers['w1'] = { isHeld: true, whose: 'other', answer: 'certificate is valid for theirs, not 10.0.0.100' };
  expect(messages(inventory, fleetOf(world))).toEqual([
    'w1: refused: 10.0.0.100:8443 does not serve this cluster: its certificate is of another CA (certificate is valid for theirs, not 10.0.0.100)',
  ]);
});

test('a virtual address that another machine has is refused, and one that a host of the inventory has is not', () => {
  const world = fresh();
  world.answers['w1'] = { isHeld: true, whose: 'unknown', answer: 'connection refused' };
  expect(messages(virtual, fleetOf(world))).toEqual([
    'w1: refused: another machine has the virtual address 10.0.0.100',
  ]);
  world.facts['cp1'] = {
    interfaces: [{ name: 'eth0', addresses: ['10.0.0.11', '10.0.0.100'], mac: '', mtu: 1500 }],
  };
  expect(messages(virtual, fleetOf(world))).toEqual([]);
});

test('nodes that kbuild cannot lead are refused by name: they would be cut off later', () => {
  const nodes = [...nodesOf(...hosts), nodeOf({ name: 'w9' })];
  expect(messages(inventory, fleetOf(fresh(), { nodes }))).toEqual([
    'w9: refused: the inventory does not name this node of the cluster, which would be cut off when the old endpoint goes',
  ]);
  const win = { ...hosts[1]!, name: 'win1', os: 'windows' } as never;
  const withWindows = { ...inventory, hosts: [...inventory.hosts, win] };
  const joined = { nodes: [...nodesOf(...hosts), nodeOf({ name: 'win1' })] };
  expect(messages(withWindows, fleetOf(fresh(), joined))).toEqual([
    expect.stringMatching(/^win1: refused: kbuild cannot lead a Windows node/),
  ]);
  // One that has yet to join joins at the new endpoint.
  expect(messages(withWindows, fleetOf(fresh()))).toEqual([]);
});

test('a cluster that is absent, away or between two versions is refused', () => {
  const absent = { ...fleetOf(fresh()), cluster: { state: 'absent' as const } };
  expect(messages(inventory, absent)).toEqual(['demo: refused: there is no cluster yet']);
  const down = { ...fleetOf(fresh()), cluster: { state: 'down' as const, reason: 'cp1: no answer' } };
  expect(messages(inventory, down)).toEqual(['demo: refused: the cluster does not answer: cp1: no answer']);
  const newer = podOf({
    name: 'kube-apiserver-cp1',
    labels: { component: 'kube-apiserver' },
    images: ['registry.k8s.io/kube-apiserver:v1.37.1'],
  });
  const mixed = fleetOf(fresh(), { pods: [newer] });
  expect(messages(inventory, mixed)).toEqual([expect.stringContaining('an upgrade is half done')]);
});

test('another setting that cannot change is refused; the endpoint is not', () => {
  const other = { ...inventory, network: { ...inventory.network, podSubnet: '10.200.0.0/16' } };
  expect(messages(other, fleetOf(fresh()))).toEqual([expect.stringContaining('network.podSubnet is 10.200.0.0/16')]);
});
