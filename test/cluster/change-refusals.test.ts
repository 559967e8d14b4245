import { describe, expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { changeRefusals } from '../../src/cluster/host.refusal.ts';
import { refusedWorkers } from '../../src/cluster/joined.refusal.ts';
import { refusals } from '../../src/cluster/up.refusal.ts';
import { FactError } from '../../src/errors.ts';
import {
  clusterOf,
  cp1,
  cp2,
  factsOf,
  fleetIn,
  freshHost,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  joinedWorker,
  memberOf,
  nodeOf,
  nodesOf,
  OTHER_CA,
  w1,
  w2,
} from '../fakes/cluster.ts';

const inventory = inventoryOf({ hosts: [cp1, w1, w2] });
const live = clusterOf({
  nodes: nodesOf(cp1, w1, w2),
});
const seen = (facts: LinuxFacts, cluster = live): Fleet =>
  fleetIn(cluster, joinedHost(cp1), [w1, facts], joinedHost(w2));
const messages = (fleet: Fleet, ...names: readonly string[]) =>
  changeRefusals(inventory, fleet, names).map(({ message }) => message);
const prod = joinedWorker({ kubeconfigCluster: { name: 'prod', server: '' }, caFingerprint: OTHER_CA });
const silent = (facts: LinuxFacts): LinuxFacts =>
  Object.defineProperty(facts, 'kubernetesTraces', {
    get: () => {
      throw new FactError('w1', 'kubernetesTraces', 'no answer');
    },
  });

describe('a command that changes hosts', () => {
  test('is refused if one host belongs to another cluster', () => {
    const text = 'w1: refused: it belongs to the cluster "prod", this inventory is "demo"';
    expect(messages(seen(prod), 'w1')).toEqual([text]);
    expect(messages(seen(prod), 'w2', 'w1')).toEqual([text]);
    expect(messages(seen(prod), 'w2')).toEqual([]);
  });

  test('is refused if the live cluster has another name', () => {
    const fleet = seen(joinedWorker(), { ...live, name: 'prod' });
    expect(messages(fleet, 'w2')).toEqual([
      'demo: refused: the cluster that answers on cp1 is called "prod", this inventory is "demo"',
    ]);
  });

  test('may change an adopted cluster of another name', () => {
    const { kubernetes } = inventory;
    const adopting = { ...inventory, kubernetes: { ...kubernetes, adopt: live.caFingerprint } };
    expect(changeRefusals(adopting, seen(joinedWorker(), { ...live, name: 'prod' }), ['w2'])).toEqual([]);
  });

  test('is refused if the host has this cluster’s marker and another cluster’s CA', () => {
    const marked = joinedWorker({
      caFingerprint: OTHER_CA,
      marker: { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' },
    });
    expect(messages(seen(marked), 'w1')).toEqual([
      'w1: refused: it belongs to another cluster (CA sha256:bbbbbbbbbbbb…, demo has sha256:aaaaaaaaaaaa…)',
    ]);
  });

  test('does not suggest reset if a cluster runs on the host, or if that is unknown', () => {
    const remedy = (facts: LinuxFacts) => changeRefusals(inventory, seen(facts), ['w1'])[0]!.remedy;
    expect(remedy({ ...prod, kubeletHealthy: true })).not.toContain('kbuild reset');
    const unread = Object.defineProperty({ ...prod }, 'kubeletHealthy', {
      get: () => {
        throw new FactError('w1', 'kubeletHealthy', 'no answer');
      },
    });
    expect(remedy(unread)).toContain('a cluster may live there (something that could not be read');
    expect(remedy({ ...prod, kubeletHealthy: false })).toContain('`kbuild reset --hosts w1`');
  });
});

describe('a joined host whose kubelet uses another container runtime', () => {
  const osRelease = { id: 'debian', idLike: [], versionId: '12', codename: 'bookworm', prettyName: 'Debian' };
  const on = (kubeletRuntime: string) => seen(joinedWorker({ kubeletRuntime, osRelease }));

  test('is refused by all commands but `up`: its containers would be left running', () => {
    const [refused] = changeRefusals(inventory, on('unix:///var/run/crio/crio.sock'), ['w1']);
    expect(refused!.message).toBe(
      'w1: refused: its kubelet uses CRI-O, the inventory asks for containerd, and only `kbuild up` changes the runtime of a joined host',
    );
    expect(refused!.remedy).toBe('run `kbuild up` first, or set runtime.name back to crio');
  });

  test('is not left out of `up`, which changes it', () =>
    expect(refusedWorkers(inventory, on('unix:///run/crio/crio.sock'), undefined)).toEqual([]));

  test('is left out of `up` alone where it cannot change, and the way is named', () => {
    const fleet = on('unix:///run/cri-dockerd.sock');
    expect(refusedWorkers(inventory, fleet, undefined)[0]!.error).toMatchObject({
      remedy: expect.stringContaining('go by way of CRI-O') as string,
    });
    expect(refusedWorkers(inventory, fleet, undefined).map(({ host }) => host.name)).toEqual(['w1']);
    expect(refusals(inventory, fleet)).toEqual([]);
  });

  test.each([
    '',
    'unix:///run/containerd/containerd.sock',
    '/var/run/containerd/containerd.sock',
    'unix:///run/other.sock',
  ])('is changed if it has the inventory’s, or one that kbuild does not know: "%s"', (endpoint) =>
    expect(changeRefusals(inventory, on(endpoint), ['w1'])).toEqual([]),
  );
});

describe('a Ready node of the host’s name', () => {
  const at = (internalAddress: string, over: Partial<ReturnType<typeof nodeOf>> = {}) =>
    clusterOf({ nodes: [...clusterOf().nodes, nodeOf({ name: 'w1', internalAddress, machineId: 'aa', ...over })] });

  test('on another machine is not a leftover of an empty host: the refusal names both machines', () => {
    expect(messages(seen(factsOf({ machineId: 'bb' }), at('10.0.0.99')), 'w1')).toEqual([
      'w1: refused: its node is Ready on another machine (10.0.0.99, machine-id aa), and this host is 10.0.0.21, machine-id bb',
    ]);
  });

  test.each([
    ['is at the host’s own address', factsOf(), at('10.0.0.21')],
    ['is not Ready', factsOf(), at('10.0.0.99', { ready: false })],
    ['is that of a host that has joined', joinedWorker(), at('10.0.0.21')],
  ] as const)('refuses nothing if it %s', (_, facts, cluster) => {
    expect(messages(seen(facts, cluster), 'w1')).toEqual([]);
  });

  test('at the host’s address, and a healthy etcd member of its name at another: a control plane is refused', () => {
    const member = memberOf(2, { peerUrl: 'https://10.0.0.77:2380' });
    const refused = (over: Partial<typeof member>) =>
      changeRefusals(
        inventoryOf({ hosts: [cp1, cp2] }),
        fleetIn(clusterOf({ members: [{ ...member, ...over }] }), joinedHost(cp1), freshHost(cp2)),
        ['cp2'],
      ).map(({ message }) => message);
    expect(refused({})).toEqual([
      'cp2: refused: its etcd member 2 is healthy on another machine (10.0.0.77), and this host is 10.0.0.12',
    ]);
    expect(refused({ healthy: false })).toEqual([]);
    expect(refused({ peerUrl: 'https://10.0.0.12:2380' })).toEqual([]);
  });
});

const nodes = [...clusterOf().nodes, nodeOf({ name: 'cp2', internalAddress: '10.0.0.12' }), nodeOf({ name: 'w1' })];

describe('a joined host whose role the inventory has changed', () => {
  test('refuses a joined worker that the inventory names a control plane', () => {
    const two = inventoryOf({ hosts: [cp1, cp2] });
    const fleet = fleetIn(clusterOf({ nodes }), joinedHost(cp1), [cp2, joinedWorker()]);
    const [refused] = refusals(two, fleet);
    expect(refused!.message).toBe('cp2: refused: it is a worker of demo, and the inventory calls it a control plane');
    expect(refused!.remedy).toBe('set its role back, or run `kbuild remove cp2` and then `kbuild up`');
  });

  test('leaves out a joined control plane that the inventory names a worker; `remove` accepts it', () => {
    const fleet = seen(joinedControlPlane(), clusterOf({ nodes }));
    expect(refusedWorkers(inventory, fleet, undefined).map(({ error }) => error.message)).toEqual([
      'w1: refused: it is a control plane of demo, and the inventory calls it a worker',
    ]);
    expect(changeRefusals(inventory, fleet, ['w1'])).toEqual([]);
  });
});

describe('a joined host whose internalAddress the inventory has changed', () => {
  const joinedAt = (address: string) => ({ kubeletFlags: ['--v=2', `--node-ip=${address}`] });
  const messages = (facts: object, cluster = clusterOf()) =>
    refusals(inventory, fleetIn(cluster, [cp1, joinedControlPlane(facts)])).map(({ message }) => message);

  test('refuses a control plane, by its kubelet or by its etcd member, and names the way', () => {
    const [member] = clusterOf().members;
    const elsewhere = clusterOf({ members: [{ ...member!, name: 'cp1', peerUrl: 'https://10.0.0.77:2380' }] });
    const expected = ['cp1: refused: it joined demo with the address 10.0.0.77, and the inventory says 10.0.0.11'];
    expect(messages(joinedAt('10.0.0.77'))).toEqual(expected);
    expect(messages(joinedAt('10.0.0.11'), elsewhere)).toEqual(expected);
    const [refused] = refusals(inventory, fleetIn(elsewhere, joinedHost(cp1)));
    expect(refused!.remedy).toBe(
      'set its internalAddress back. To give it another one: `kbuild remove cp1`, then edit it, then `kbuild up`',
    );
  });

  test('accepts the same address, and a kubelet that kbuild did not join', () => {
    expect(messages(joinedAt('10.0.0.11'))).toEqual([]);
    expect(messages({ kubeletFlags: [] })).toEqual([]);
    expect(messages({ kubeletFlags: 'absent' })).toEqual([]);
  });

  test('leaves out a worker; `remove` accepts it', () => {
    const fleet = seen(joinedWorker(joinedAt('10.0.0.78')), clusterOf({ nodes }));
    expect(refusedWorkers(inventory, fleet, undefined).map(({ error }) => error.message)).toEqual([
      'w1: refused: it joined demo with the address 10.0.0.78, and the inventory says 10.0.0.21',
    ]);
    expect(changeRefusals(inventory, fleet, ['w1'])).toEqual([]);
  });
});

describe('a refused worker', () => {
  const names = (fleet: Fleet, hosts?: readonly string[]) =>
    refusedWorkers(inventory, fleet, hosts).map(({ host, error }) => `${host.name}: ${error.name}`);

  test('is left out of `up`, which goes on with the other hosts', () => {
    expect(names(seen(prod))).toEqual(['w1: Refused']);
    expect(refusals(inventory, seen(prod))).toEqual([]);
  });

  test('is left out if unknown facts hide its cluster', () => {
    expect(names(seen(silent(joinedWorker())))).toEqual(['w1: FactError']);
  });

  test('is ignored if --hosts does not select it', () => {
    expect(names(seen(prod), ['w2'])).toEqual([]);
  });

  test('does not excuse a control plane whose facts are unknown', () => {
    const fleet = fleetIn(live, [cp1, silent(joinedControlPlane())], joinedHost(w1));
    expect(() => refusals(inventory, fleet)).toThrow(FactError);
  });
});
