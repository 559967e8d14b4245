import { describe, expect, test } from 'vitest';
import { ailments, disruptionObstacles } from '../../src/cluster/ailments.ts';
import type { ClusterUp, ClusterView } from '../../src/cluster/fleet/view.ts';
import { FactError } from '../../src/errors.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  hostOf,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  joinedWorker,
  memberOf,
  nodeOf,
  w1,
} from '../fakes/cluster.ts';

const NAMES = ['cp1', 'cp2', 'cp3', 'cp4', 'cp5'];

/** A cluster of so many control planes and a worker, of which those named do not serve. */
function clusterWith(count: number, down: readonly string[] = [], more: Partial<ClusterUp> = {}): ClusterUp {
  const names = NAMES.slice(0, count);
  return clusterOf({
    nodes: [...names.map((name) => nodeOf({ name, role: 'control-plane' })), nodeOf({ name: 'w1' })],
    members: names.map((name, i) => memberOf(i + 1, { healthy: !down.includes(name) })),
    apiServers: new Map(names.map((name) => [name, down.includes(name) ? 'etcd failed' : 'ok'])),
    ...more,
  });
}

const place = (cluster: ClusterView, host = cp1, inventory: Inventory = inventoryOf()) => ({
  inventory,
  host,
  fleet: fleetIn(cluster, [host, host.role === 'worker' ? joinedWorker() : joinedControlPlane()]),
});

test('a control plane that has not joined yet works, though its packages are installed while another one founds the cluster', () => {
  const founded = clusterWith(1, [], { endpoint: 'ok' });
  const cp2 = hostOf({ name: 'cp2', role: 'control-plane' });
  expect(ailments(place(founded, cp2))).toEqual([]);
  const lost = clusterWith(2, [], { members: [memberOf(1)] });
  expect(ailments(place(lost, cp2))).toEqual(['it has no etcd member']);
});

describe('a control plane may be disrupted', () => {
  test.each([
    ['the only one', 1, []],
    ['one of three', 3, []],
    ['one of five while another is down', 5, ['cp5']],
    ['one of two, because no moment is better', 2, []],
    ['one that does not serve, whatever state the others have', 3, ['cp1', 'cp2', 'cp3']],
  ])('%s', (_, count, down) => expect(disruptionObstacles(place(clusterWith(count, down)))).toEqual([]));

  test('not one of three while another is down', () =>
    expect(disruptionObstacles(place(clusterWith(3, ['cp2'])))).toEqual([
      'etcd would lose quorum without it: cp2 is not healthy (1 of 3 voters left, quorum 2)',
    ]));

  test('not while no other API server is ready', () => {
    const apiServers = new Map([
      ['cp1', 'ok'],
      ['cp2', 'timeout'],
    ]);
    expect(disruptionObstacles(place(clusterWith(3, [], { apiServers })))).toEqual([
      'no other API server is ready: cp2: timeout; cp3: no answer',
    ]);
  });

  test('not while etcd’s members are unknown', () => {
    const cluster = Object.defineProperty(clusterWith(3), 'members', {
      get: () => {
        throw new FactError('cp1', 'etcd', 'timeout');
      },
    });
    expect(disruptionObstacles(place(cluster))).toEqual(['cp1: could not tell etcd: timeout']);
  });
});

test('a host of role etcd is judged by the members of its own etcd', () => {
  const etcd1 = hostOf({ name: 'etcd1', role: 'etcd' });
  const members = [1, 2, 3].map((i) => memberOf(i, { name: `etcd${String(i)}`, healthy: i !== 2 }));
  const cluster = { state: 'absent' as const, etcd: { state: 'up' as const, via: 'etcd1', members, alarms: [] } };
  expect(disruptionObstacles(place(cluster, etcd1))).toHaveLength(1);
});

describe('a host works', () => {
  test.each([
    ['a control plane that serves', clusterWith(3), cp1, []],
    ['a worker that is Ready', clusterWith(1), w1, []],
    ['a host that has not joined', clusterWith(1), hostOf({ name: 'w9' }), []],
    [
      'not while its API server and its member are down',
      clusterWith(3, ['cp1']),
      cp1,
      ['its API server: etcd failed', 'its etcd member is not healthy'],
    ],
    [
      'not while its node is not Ready',
      clusterWith(1, [], { nodes: [nodeOf({ name: 'w1', ready: false, reason: 'stopped' })] }),
      w1,
      ['its node is not Ready (stopped)'],
    ],
    [
      'not while the API does not answer',
      { state: 'down', reason: 'refused' } as const,
      w1,
      ['the API does not answer (refused)'],
    ],
  ])('%s', (_, cluster, host, found) => expect(ailments(place(cluster, host))).toEqual(found));

  test('not while its kubelet is not healthy', () => {
    const fleet = fleetIn(clusterWith(1), joinedHost(w1, { kubeletHealthy: false }));
    expect(ailments({ inventory: inventoryOf(), host: w1, fleet })).toEqual(['its kubelet is not healthy']);
  });

  test('a load balancer, not while the endpoint does not serve', () => {
    const lb = hostOf({ name: 'lb1', role: 'load-balancer' });
    const loadBalancer = { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 1, routerId: 1 } as const;
    const inventory = inventoryOf({ hosts: [cp1, lb], loadBalancer });
    expect(ailments(place(clusterWith(1, [], { endpoint: 'refused' }), lb, inventory))).toEqual([
      'k8s.example:6443 does not serve the API (refused)',
    ]);
  });
});
