import { expect, test } from 'vitest';
import type { EndpointAnswer } from '../../src/balancer/balancer.facts.ts';
import { endpoint } from '../../src/balancer/endpoint.check.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import type { LoadBalancer } from '../../src/inventory/control-plane.ts';
import { clusterOf } from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { hosts, inventory as inventoryWith } from '../fakes/inventory.ts';

const EXTERNAL: LoadBalancer = { kind: 'external' };
const VIRTUAL: LoadBalancer = { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 1 };

const found = (
  answer: EndpointAnswer,
  loadBalancer: LoadBalancer = EXTERNAL,
  cluster: ClusterView = { state: 'absent' },
): readonly string[] => {
  const inventory = inventoryWith({ hosts: hosts.slice(0, 1), loadBalancer });
  const seen = fleet({ inventory, facts: { cp1: { endpoint: answer, interfaces: [] } }, cluster });
  return endpoint.test({ inventory, fleet: seen }).map(({ severity, message }) => `${severity}: ${message}`);
};

test('before there is a cluster, a refused connection is right', () => {
  expect(found('refused')).toEqual([]);
  expect(found('not asked')).toEqual([]);
});

test.each([
  ['silent', /error: the endpoint k8s\.example\.com:6443 does not answer: packets to it are lost/],
  ['unreachable', /error: .* cannot be reached/],
  ['unresolved', /error: .* is a name that does not resolve/],
  ['serves', /error: .* is served already, and there is no cluster of this inventory/],
  ['open', /warning: .* accepts connections before an API server runs/],
] as const)('before there is a cluster, one that is %s is not', (answer, text) => {
  expect(found(answer).join()).toMatch(text);
});

test('for a host that joins, the API must answer', () => {
  expect(found('serves', EXTERNAL, clusterOf())).toEqual([]);
  expect(found('refused', EXTERNAL, clusterOf()).join()).toMatch(/error: .* refuses connections/);
  expect(found('silent', EXTERNAL, clusterOf()).join()).toMatch(/error: .* does not answer/);
});

test('a virtual address must be free', () => {
  expect(found('unreachable', VIRTUAL)).toEqual([]);
  expect(found('silent', VIRTUAL)).toEqual([]);
  expect(found('refused', VIRTUAL)).toEqual(['error: another machine has the virtual address 10.0.0.100']);
});
