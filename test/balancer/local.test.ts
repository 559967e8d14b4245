/** `loadBalancer.kind: local`: haproxy of every node, and a port of the loopback interface as the endpoint. */
import { describe, expect, test } from 'vitest';
import { balancerPackages, balancerSteps, formerBalancerSteps } from '../../src/balancer/balancer.phases.ts';
import { formerBinds, haproxy, haproxyConfig } from '../../src/balancer/haproxy.step.ts';
import { ailments } from '../../src/cluster/ailments.ts';
import { refusedOfLive } from '../../src/cluster/live.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { moveEndpointPhases, oldEndpointReasons } from '../../src/commands/move-endpoint.phases.ts';
import { remove } from '../../src/commands/remove.phases.ts';
import { up } from '../../src/commands/up.phases.ts';
import { watchesOf } from '../../src/engine/step.ts';
import { openings } from '../../src/host/openings.value.ts';
import { balancers } from '../../src/inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { kubeProxyAstray } from '../../src/kubeadm/endpoint-objects.step.ts';
import { kubeconfigsAstray } from '../../src/kubeadm/endpoint.ts';
import { calicoObjects } from '../../src/network/calico.step.ts';
import { paths } from '../../src/paths.ts';
import {
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  inventoryOf,
  joinedHost,
  joinedWorker,
  nodesOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { clusterIn, fresh } from '../kubeadm/endpoint-world.ts';
import { inventoryOf as inventoryIn, problemsOf } from '../inventory/load.ts';

const LOCAL = '127.0.0.1:7443';
const VIRTUAL = '10.0.0.100:8443';
const hosts = [cp1, cp2, w1];
const local = inventoryOf({
  hosts,
  endpoint: LOCAL,
  loadBalancer: { kind: 'local', port: 7443, healthPort: 8404 },
});
const virtual = inventoryOf({
  hosts,
  endpoint: VIRTUAL,
  loadBalancer: { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 100 },
});
const on = { load: 'loaded', active: 'active', enabled: 'enabled', startedMs: 1, needsDaemonReload: false };
const bothRun = new Map([
  ['haproxy', on],
  ['keepalived', on],
]);

/** A joined host of a cluster with this live endpoint. */
function seen(of: Inventory, host: LinuxHost, live: string, facts: Partial<LinuxFacts> = {}) {
  const cluster = clusterOf({ configuration: { controlPlaneEndpoint: live }, nodes: nodesOf(...hosts) });
  const all = { listeners: [], ownFiles: [], kubeconfigServers: new Map(), ...facts };
  return targetOf(of, host, fleetIn(cluster, joinedHost(host, all)));
}
const bindsOf = (text: string): readonly string[] => [...text.matchAll(/^ {4}bind (\S+)$/gm)].map(([, at]) => at!);
const summaries = (steps: typeof balancerSteps, target: ReturnType<typeof seen>): readonly string[] =>
  steps.flatMap((step) => step.diff(target)).map(({ summary }) => summary);

const file = (loadBalancer: string, kubernetes = '', host = ''): string => `name: prod
kubernetes: { version: "1.36.3"${kubernetes} }
loadBalancer: ${loadBalancer}
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - { name: cp2, address: 10.0.0.12, role: control-plane }
  - { name: w1, address: 10.0.0.21, role: worker }
${host}`;

describe('an inventory with a balancer on every node', () => {
  test('has a port of the loopback interface as its endpoint', async () => {
    expect((await inventoryIn(file('{ kind: local }'))).endpoint).toBe(LOCAL);
    const other = await inventoryIn(file('{ kind: local, port: 6444 }', ', endpoint: "127.0.0.1:6444"'));
    expect(other.endpoint).toBe('127.0.0.1:6444');
    expect(balancers(other).map(({ name }) => name)).toEqual(['cp1', 'cp2', 'w1']);
  });

  test.each([
    [
      'another endpoint',
      file('{ kind: local }', ', endpoint: "k8s.example:6443"'),
      /kubernetes\.endpoint: contradicts/,
    ],
    [
      'a virtual address',
      file('{ kind: local, address: 10.0.0.100 }'),
      /loadBalancer\.address: is of no use with kind/,
    ],
    ['the port of API servers', file('{ kind: local, port: 6443 }'), /port: the API servers listen at 6443/],
    ['the port of the kubelet', file('{ kind: local, port: 10250 }'), /port: 10250 is a port of Kubernetes/],
    ['a NodePort', file('{ kind: local, port: 30443 }'), /port: 30443 is a port of Services/],
    ['the port of its own health', file('{ kind: local, port: 8404 }'), /port: is loadBalancer\.healthPort/],
    [
      'a Windows host',
      file('{ kind: local }', '', '  - { name: win1, address: 10.0.0.31, role: worker, os: windows }\n'),
      /hosts\[3\]\.os: a Windows host cannot reach the API/,
    ],
    [
      'a host of role load-balancer',
      file('{ kind: local }', '', '  - { name: lb1, address: 10.0.0.31, role: load-balancer }\n'),
      /hosts\[3\]\.role: hosts of role load-balancer need/,
    ],
  ])('is refused with %s', async (_, text, message) => {
    expect((await problemsOf(text)).join('\n')).toMatch(message);
  });
});

describe('haproxy of a node', () => {
  test('listens on the loopback interface alone, with every control plane as a backend and no port for keepalived', () => {
    const text = haproxyConfig(seen(local, w1, LOCAL));
    expect(bindsOf(text)).toEqual([LOCAL]);
    expect(text).toContain('server cp1 10.0.0.11:6443\n    server cp2 10.0.0.12:6443\n');
    expect(text).not.toContain('frontend health');
  });

  test('asks API servers less often the more nodes there are, and the same for one more', () => {
    const intervalOf = (count: number): string => {
      const more = Array.from({ length: count - 1 }, (_, i) => ({ ...w1, name: `n${String(i)}` }));
      const text = haproxyConfig(seen({ ...local, hosts: [cp1, ...more] }, cp1, LOCAL));
      return / inter (\d+ms) .* downinter \1 /.exec(text)![1]!;
    };
    expect([3, 40, 41, 80, 81, 500].map(intervalOf)).toEqual([
      ...['800ms', '800ms', '1600ms'],
      ...['1600ms', '3200ms', '12800ms'],
    ]);
  });

  test('is left alone, and refused, while it serves something of the user’s', () => {
    const services = new Map([['haproxy', on]]);
    const listeners = [{ protocol: 'tcp', address: '*', port: 443, process: 'haproxy' }] as never;
    const due = (facts: Partial<LinuxFacts>) => () =>
      haproxy[0]!.diff(seen(local, w1, LOCAL, { services, files: new Map(), ...facts }));
    expect(due({ listeners })).toThrow(/w1: refused: its haproxy serves something else already \(port 443\)/);
    // The package has just started it, or it is a pod of the host's network, or kbuild's own.
    expect(due({})).not.toThrow();
    expect(due({ listeners, services: new Map() })).not.toThrow();
    expect(due({ listeners, ownFiles: [paths.haproxyConfig] })).not.toThrow();
  });

  test('needs neither keepalived nor an opening of the firewall', () => {
    const target = seen(local, w1, LOCAL, {
      services: new Map([['haproxy', on]]),
      applied: new Map(),
      balancer: 'none',
    });
    expect(watchesOf(balancerPackages, target).packages).toEqual(['haproxy']);
    expect(summaries(balancerSteps, target).join('\n')).not.toContain('keepalived');
    for (const host of hosts)
      expect(openings(local, host).filter(({ protocol, ports }) => protocol === 'vrrp' || ports[0] === 7443)).toEqual(
        [],
      );
  });

  test('runs before kubeadm does, and no node waits for that of another one', () => {
    const phases = up(local);
    const at = (name: string): number => phases.findIndex((phase) => phase.name === name);
    expect(at('load-balancer')).toBeLessThan(at('init'));
    const [packages, configure] = [phases[at('balancer-packages')]!, phases[at('load-balancer')]!];
    for (const { hosts: where, concurrency, overlaps } of [packages, configure]) {
      expect(where.map(({ name }) => name)).toEqual(['cp1', 'cp2', 'w1']);
      expect([concurrency, overlaps]).toEqual([undefined, true]);
    }
  });

  test('drops a control plane on every node before that one leaves', () => {
    const leaving = [{ name: 'cp2', host: cp2, node: undefined }] as never;
    const drain = { timeoutMs: 1 } as never;
    const phases = remove(local, { leaving, drain, before: () => Promise.resolve() });
    expect(phases.map(({ name, hosts: where }) => `${name} ${where.map((host) => host.name).join()}`)).toEqual([
      'backends cp1,w1',
      'remove cp2',
      'load-balancer cp1,w1',
    ]);
  });

  test('is named as the reason where it does not run, or reaches no API server', () => {
    const facts = (balancer: LinuxFacts['balancer']) => ({
      inventory: local,
      host: w1,
      fleet: fleetIn(clusterOf({ nodes: nodesOf(...hosts) }), [w1, joinedWorker({ balancer })]),
    });
    const server = (isUp: boolean) => new Map([['cp1', { isUp, turn: 'ready' as const }]]);
    expect(ailments(facts('none'))).toContain('its haproxy, by which it reaches the API, does not run');
    expect(ailments(facts(server(false)))).toContain('its haproxy reaches no API server');
    expect(ailments(facts(server(true))).join()).not.toContain('haproxy');
  });
});

describe('a move', () => {
  const held = { ownFiles: [paths.haproxyConfig, paths.keepalivedConfig] };

  test('from a virtual address has haproxy serve both, and keepalived believe in it', () => {
    const text = haproxyConfig(seen(local, cp1, VIRTUAL, held));
    expect(bindsOf(text)).toEqual([LOCAL, ':8443', '127.0.0.1:8404']);
    // A worker never had the virtual address, and what it gets is no reason to have had it.
    expect(bindsOf(haproxyConfig(seen(local, w1, VIRTUAL, { ownFiles: [paths.haproxyConfig] })))).toEqual([LOCAL]);
  });

  test('to a virtual address has haproxy serve both, unless a program of the user’s has the port', () => {
    const listener = (process: string) => [{ protocol: 'tcp', address: '127.0.0.1', port: 7443, process }] as never;
    expect(bindsOf(haproxyConfig(seen(virtual, cp1, LOCAL)))).toEqual([':8443', LOCAL, '127.0.0.1:8404']);
    expect(formerBinds(seen(virtual, cp1, LOCAL, { listeners: listener('haproxy') }))).toEqual([LOCAL]);
    expect(formerBinds(seen(virtual, cp1, LOCAL, { listeners: listener('nginx') }))).toEqual([]);
  });

  test('serves the new endpoint alone when it is complete', () => {
    expect(bindsOf(haproxyConfig(seen(local, cp1, LOCAL, held)))).toEqual([LOCAL]);
    expect(bindsOf(haproxyConfig(seen(virtual, cp1, VIRTUAL)))).toEqual([':8443', '127.0.0.1:8404']);
  });

  test('is not refused for a balancer that goes on to serve the old endpoint', () => {
    const written = { kind: 'file', sha256: 'a'.repeat(64), mode: 0o644, owner: 'root:root', mtimeMs: 1 } as never;
    const facts = { ...held, files: new Map([[paths.haproxyConfig, written]]) };
    for (const [of, live] of [
      [local, VIRTUAL],
      [virtual, LOCAL],
    ] as const) {
      const own = of === local ? facts : { ...facts, ownFiles: [paths.haproxyConfig] };
      const { fleet } = seen(of, cp1, live, { ...own, hostsBlock: 'absent' });
      expect(refusedOfLive(oldEndpointReasons, { inventory: of, fleet })).toEqual([]);
    }
  });

  test('installs haproxy on all nodes at once, and proves the endpoint on each', () => {
    const cluster = clusterOf({ configuration: { controlPlaneEndpoint: VIRTUAL }, nodes: nodesOf(...hosts) });
    const fleet = fleetIn(cluster, ...hosts.map((host) => joinedHost(host)));
    const phases = moveEndpointPhases(local, fleet);
    for (const name of ['balancer-packages', 'load-balancer', 'endpoint-proved']) {
      const phase = phases.find((one) => one.name === name)!;
      expect([...phase.hosts].map((host) => host.name).toSorted()).toEqual(['cp1', 'cp2', 'w1']);
      expect(phase.concurrency).toBeUndefined();
    }
  });

  test('away from it leads kubeconfigs and kube-proxy that name the loopback, but not those of a balancer of the user’s', () => {
    const away = (live: string, ownFiles: readonly string[] = []) => {
      const conf = new Map([['kubelet.conf', { server: `https://${LOCAL}`, changedMs: 1 }]]);
      const { fleet, facts } = seen(virtual, w1, live, { kubeconfigServers: conf, ownFiles });
      const { cluster } = fleet;
      return cluster.state === 'up' ? kubeconfigsAstray(virtual, cluster, { host: w1, facts }) : [];
    };
    const astray = [{ name: 'kubelet.conf', server: `https://${LOCAL}` }];
    expect(away(LOCAL)).toEqual(astray);
    expect(away(VIRTUAL)).toEqual([]);
    // A worker that was off while the cluster moved.
    expect(away(VIRTUAL, [paths.haproxyConfig])).toEqual(astray);

    const world = { ...fresh(), kubeProxy: `https://${LOCAL}`, noted: LOCAL };
    expect(kubeProxyAstray(virtual, clusterIn(world))).toBe(`https://${LOCAL}`);
    expect(kubeProxyAstray(virtual, clusterIn({ ...world, noted: 'k8s.example:6443' }))).toBeUndefined();
  });
});

describe('a move to it that was cut off, with the inventory set back', () => {
  const admin = new Map([['admin.conf', { server: `https://${LOCAL}`, changedMs: 1 }]]);
  const facts = (process: string): Partial<LinuxFacts> => ({
    kubeconfigServers: admin,
    ownFiles: [paths.haproxyConfig],
    listeners: [{ protocol: 'tcp', address: '127.0.0.1', port: 7443, process }],
  });

  test('keeps the port that a kubeconfig names, and the command leads that back', () => {
    const target = seen(virtual, cp1, VIRTUAL, facts('haproxy'));
    expect(bindsOf(haproxyConfig(target))).toEqual([':8443', LOCAL, '127.0.0.1:8404']);
    const { cluster } = target.fleet;
    expect(cluster.state === 'up' && kubeconfigsAstray(virtual, cluster, target)).toEqual([
      { name: 'admin.conf', server: `https://${LOCAL}` },
    ]);
  });

  test('leaves a balancer of the user’s at that port alone', () => {
    const target = seen(virtual, cp1, VIRTUAL, facts('nginx'));
    expect(bindsOf(haproxyConfig(target))).toEqual([':8443', '127.0.0.1:8404']);
    const { cluster } = target.fleet;
    expect(cluster.state === 'up' && kubeconfigsAstray(virtual, cluster, target)).toEqual([]);
  });
});

describe('what the inventory no longer wants', () => {
  const files = [paths.haproxyConfig, paths.keepalivedConfig, paths.checkApiserver];

  test('is keepalived alone on a control plane that got a balancer of its own', () => {
    expect(summaries(formerBalancerSteps, seen(local, cp1, LOCAL, { services: bothRun, ownFiles: files }))).toEqual([
      "stop and disable keepalived (found running with kbuild's configuration)",
      `remove ${paths.keepalivedConfig} (found kbuild's)`,
      `remove ${paths.checkApiserver} (found kbuild's)`,
    ]);
  });

  test('is haproxy of a worker after the move away, and nothing of a control plane that holds the address', () => {
    const facts = { services: bothRun, ownFiles: [paths.haproxyConfig] };
    expect(summaries(formerBalancerSteps, seen(virtual, w1, VIRTUAL, facts))).toEqual([
      "stop and disable haproxy (found running with kbuild's configuration)",
      `remove ${paths.haproxyConfig} (found kbuild's)`,
    ]);
    expect(summaries(formerBalancerSteps, seen(virtual, cp1, VIRTUAL, { ...facts, ownFiles: files }))).toEqual([]);
  });
});

test('pods of Calico without the host’s network reach the API by its Service', () => {
  const [endpoint] = calicoObjects({
    ...local,
    network: { ...local.network, plugin: 'calico', calico: {} },
  } as never);
  expect(endpoint!['data']).toEqual({ KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' });
});
