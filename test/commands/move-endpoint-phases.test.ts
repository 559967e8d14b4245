import { describe, expect, test } from 'vitest';
import { formerBalancer } from '../../src/balancer/take-down.step.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { refusedOfLive } from '../../src/cluster/live.ts';
import { moveEndpointPhases, oldEndpointReasons } from '../../src/commands/move-endpoint.phases.ts';
import { plan } from '../../src/engine/plan.ts';
import type { Step } from '../../src/engine/step.ts';
import { hostsFile } from '../../src/host/names.step.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { paths } from '../../src/paths.ts';
import { cp1, cp2, fleetIn, freshHost, targetOf, w1 } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';
import { clusterIn, fleetOf, fresh, inventory, OLD } from '../kubeadm/endpoint-world.ts';

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
    expect(
      refusedOfLive(oldEndpointReasons, { inventory: virtual, fleet: withBalancer('10.0.0.99:8443') }).map(
        ({ message }) => message,
      ),
    ).toEqual([
      "cp1: refused: kbuild's load balancer serves the old endpoint 10.0.0.99:8443 here, and would serve 10.0.0.100:8443 alone from the beginning of the move",
    ]);
    // The API server itself serves the old one, or another host balances.
    expect(refusedOfLive(oldEndpointReasons, { inventory: virtual, fleet: withBalancer(OLD) })).toEqual([]);
    expect(refusedOfLive(oldEndpointReasons, { inventory, fleet: withBalancer('10.0.0.99:8443') })).toEqual([]);
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
      expect(
        refusedOfLive(oldEndpointReasons, { inventory: same, fleet: knowing('10.0.0.11 k8s.example') }).map(
          ({ message }) => message,
        ),
      ).toEqual([
        'cp1, w1: refused: /etc/hosts leads the old endpoint k8s.example:6443 to another address (10.0.0.11 k8s.example): both cannot have one name',
      ]);
      expect(refusedOfLive(oldEndpointReasons, { inventory: named, fleet: knowing('10.0.0.11 k8s.example') })).toEqual(
        [],
      );
    });
  });
});

describe('a move that was cut off, with the inventory set back', () => {
  const back: Inventory = { ...inventory, endpoint: 'old.example:6443', loadBalancer: { kind: 'external' } };
  const halfway = (server: string) => {
    const world = fresh();
    world.noted = 'old.example:6443';
    world.confs['w1']!['kubelet.conf'] = { server };
    for (const name of ['admin.conf', 'super-admin.conf'])
      world.confs['cp1']![name] = { server: 'https://old.example:6443' };
    const on = { load: 'loaded', active: 'active', enabled: 'enabled', startedMs: 1, needsDaemonReload: false };
    world.facts['cp1'] = {
      ownFiles: [paths.keepalivedConfig],
      services: new Map([
        ['keepalived', on],
        ['haproxy', on],
      ]),
    };
    world.facts['w1'] = { hostsBlock: '10.0.0.100 new.example' };
    return fleetOf(world);
  };
  const applied = async (step: Step, host: LinuxHost, fleet: Fleet) => {
    const { on, sent } = recordingOn();
    await step.diff(targetOf(back, host, fleet))[0]!.apply!(on);
    return sent.length;
  };

  test('keeps the balancer that a worker needs, and its name; the command leads it back', async () => {
    const fleet = halfway('https://new.example:8443');
    await expect(applied(formerBalancer, cp1, fleet)).rejects.toThrow(
      'cp1: refused: its load balancer may still be in use: kubelet.conf of w1 (https://new.example:8443)',
    );
    await expect(applied(hostsFile, w1, fleet)).rejects.toThrow(
      'w1: refused: /etc/hosts names the server of kubelet.conf (https://new.example:8443)',
    );
    const phases = moveEndpointPhases(back, fleet).filter(({ name }) => name === 'kubelets');
    expect(plan(phases, back, fleet).changes.map(({ change }) => change.summary)).toContain(
      'lead kubelet.conf of w1 to https://old.example:6443 (found https://new.example:8443)',
    );
  });

  test('lets both go when no node needs them', async () => {
    const fleet = halfway('https://old.example:6443');
    expect(await applied(formerBalancer, cp1, fleet)).toBe(1);
    expect(await applied(hostsFile, w1, fleet)).toBe(1);
  });
});
