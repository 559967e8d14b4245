import { describe, expect, test } from 'vitest';
import { plan } from '../../src/engine/plan.ts';
import type { Inventory } from '../../src/model/inventory.ts';
import { paths } from '../../src/paths.ts';
import { moveEndpointPhases, oldEndpointRefusals } from '../../src/phases/move-endpoint.ts';
import { cp2, fleetIn, freshHost, w1 } from '../fakes/cluster.ts';
import { clusterIn, fleetOf, fresh, inventory, OLD } from '../kubeadm/endpoint/world.ts';

const virtual: Inventory = {
  ...inventory,
  loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 9443, routerId: 100 },
};
const names = (of: Inventory, fleet = fleetOf(fresh())) => moveEndpointPhases(of, fleet).map(({ name }) => name);

describe('a move', () => {
  test('has the balancer stand, the certificates name it and every host prove it before anything is led there', () => {
    expect(names(virtual)).toEqual([
      ...['balancer-packages', 'load-balancer', 'api-server-names', 'endpoint-names', 'endpoint-proved'],
      ...['admin-kubeconfigs', 'cluster-info', 'kube-proxy', 'network', 'kubelets', 'nodes'],
      ...['kubeadm-config', 'hosts-file', 'settled'],
    ]);
  });

  test('to a name or a balancer of the user’s builds none', () => {
    expect(names(inventory)).not.toContain('load-balancer');
  });

  test('lets no other phase begin beside the one that proves the endpoint', () => {
    for (const phase of moveEndpointPhases(virtual, fleetOf(fresh()))) expect(phase.overlaps).toBeUndefined();
  });

  test('leaves hosts alone that have yet to join, control planes too', () => {
    const before = fleetOf(fresh());
    const [first] = fleetIn(clusterIn(fresh()), freshHost(cp2)).hosts;
    const grown = { ...before, hosts: [...before.hosts, first!] };
    for (const { name, hosts } of moveEndpointPhases({ ...virtual, hosts: [...virtual.hosts, cp2] }, grown))
      expect(
        hosts.map((host) => host.name),
        name,
      ).not.toContain('cp2');
  });
});

describe('the old endpoint', () => {
  const file = { kind: 'file', sha256: 'a'.repeat(64), mode: 0o644, owner: 'root:root' } as never;
  const withBalancer = (old: string) => {
    const world = fresh();
    world.noted = old;
    world.facts['cp1'] = {
      ownFiles: [paths.haproxyConfig],
      files: new Map([[paths.haproxyConfig, file]]),
    };
    return fleetOf(world);
  };

  test('is not taken away with a balancer of kbuild’s that serves it and would serve the new one alone', () => {
    expect(oldEndpointRefusals(virtual, withBalancer('10.0.0.99:8443')).map(({ message }) => message)).toEqual([
      "cp1: refused: kbuild's load balancer serves the old endpoint 10.0.0.99:8443 here, and would serve 10.0.0.100:8443 alone from the beginning of the move",
    ]);
    // The API server itself serves the old one, or another host balances.
    expect(oldEndpointRefusals(virtual, withBalancer(OLD))).toEqual([]);
    expect(oldEndpointRefusals(inventory, withBalancer('10.0.0.99:8443'))).toEqual([]);
  });

  describe('by a name of /etc/hosts', () => {
    const named = { ...virtual, endpoint: 'new.example:8443', endpointInHosts: true };
    const knowing = (hostsBlock: string) => {
      const world = fresh();
      world.noted = 'k8s.example:6443';
      Object.assign(world.facts, { cp1: { hostsBlock }, w1: { hostsBlock } });
      return fleetOf(world);
    };
    const lines = (of: Inventory, hostsBlock: string): readonly string[] => {
      const phases = moveEndpointPhases(of, knowing(hostsBlock)).filter(({ name }) => name === 'endpoint-names');
      return plan(phases, of, knowing(hostsBlock))
        .changes.filter(({ host }) => host === w1.name)
        .map(({ change }) => change.summary);
    };

    test('stays known beside the new one', () => {
      expect(lines(named, '10.0.0.11 k8s.example')).toEqual([
        'write "10.0.0.100 new.example" to /etc/hosts beside the old endpoint (found 10.0.0.11 k8s.example)',
      ]);
      expect(lines(named, '10.0.0.100 new.example\n10.0.0.11 k8s.example')).toEqual([]);
      expect(lines(virtual, '10.0.0.11 k8s.example')).toEqual([]);
    });

    test('is not led elsewhere: the new one needs another name', () => {
      const same = { ...named, endpoint: 'k8s.example:8443' };
      expect(oldEndpointRefusals(same, knowing('10.0.0.11 k8s.example')).map(({ message }) => message)).toEqual([
        'cp1, w1: refused: /etc/hosts leads the old endpoint k8s.example:6443 to another address (10.0.0.11 k8s.example): both cannot have one name',
      ]);
      expect(oldEndpointRefusals(named, knowing('10.0.0.11 k8s.example'))).toEqual([]);
    });
  });
});
