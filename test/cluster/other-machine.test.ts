import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterView, NodeView } from '../../src/cluster/fleet/view.ts';
import { changeRefusals } from '../../src/cluster/host.refusal.ts';
import { refusedWorkers } from '../../src/cluster/joined.refusal.ts';
import { resetRefusals } from '../../src/cluster/remove.refusal.ts';
import { FactError } from '../../src/errors.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import {
  CA,
  clusterOf,
  cp1,
  cp2,
  cp3,
  fleetIn,
  freshHost,
  hostOf,
  inventoryOf,
  joinedHost,
  memberOf,
  nodeOf,
  OTHER_CA,
  type Seen,
  w1,
  w2,
} from '../fakes/cluster.ts';

const hosts = [cp1, cp2, cp3, w1, w2];
const inventory = inventoryOf({ hosts });

/** The machine that is this node, whatever host the inventory calls it. */
const machineOf = ({ name, internalAddress }: LinuxHost): Partial<LinuxFacts> => ({
  machineId: `m-${name}`,
  bootId: `boot-${name}`,
  hostname: name,
  kubeletFlags: [`--node-ip=${internalAddress}`],
  kubeletClient: { node: name },
  interfaces: [{ name: 'eth0', addresses: [internalAddress], mac: '', mtu: 1500 }],
});
const nodeOn = (host: LinuxHost, over: Partial<NodeView> = {}): NodeView =>
  nodeOf({
    name: host.name,
    role: host.role === 'control-plane' ? 'control-plane' : 'worker',
    internalAddress: host.internalAddress,
    machineId: `m-${host.name}`,
    bootId: `boot-${host.name}`,
    ...over,
  });
const live = (over: Readonly<Record<string, Partial<NodeView>>> = {}): ClusterView =>
  clusterOf({
    nodes: hosts.map((host) => nodeOn(host, over[host.name])),
    members: [memberOf(1), memberOf(2), memberOf(3)],
    apiServers: new Map([
      ['cp1', 'ok'],
      ['cp2', 'ok'],
      ['cp3', 'ok'],
    ]),
  });
const DOWN: ClusterView = { state: 'down', reason: 'no answer' };

/** What is refused when each host is the machine of the node beside it; others are their own. */
function refused(
  about: string,
  machines: Readonly<Record<string, LinuxHost | Partial<LinuxFacts>>>,
  cluster = live(),
  its = inventory,
): readonly string[] {
  const seen = its.hosts.map((host): Seen => {
    const machine = machines[host.name] ?? (host as LinuxHost);
    return joinedHost(host as LinuxHost, 'role' in machine ? machineOf(machine) : machine);
  });
  return changeRefusals(its, fleetIn(cluster, ...seen), [about]).map(({ message }) => message);
}

describe('a joined host whose machine is that of another node', () => {
  const swapped = { w1: w2, w2: w1 };

  test('is refused by name, and both machines are named, where two addresses were exchanged', () => {
    expect(refused('w1', swapped)).toEqual([
      'w1: refused: the machine at 203.0.113.21 is not w1: its kubelet has the client certificate of node w2 (this machine is 203.0.113.21, machine-id m-w2; node w1 is 10.0.0.21, machine-id m-w1)',
    ]);
    const [first] = changeRefusals(
      inventory,
      fleetIn(live(), joinedHost(cp1, machineOf(cp1)), joinedHost(w1, machineOf(w2)), joinedHost(w2, machineOf(w1))),
      ['w1'],
    );
    expect(first?.remedy).toBe('correct the addresses of w1 and w2 in the inventory');
    expect(first?.exitCode).toBe(7);
  });

  test('is refused where the inventory exchanges SSH’s and the cluster’s addresses together', () => {
    const its = inventoryOf({
      hosts: [
        cp1,
        { ...w1, address: w2.address, internalAddress: w2.internalAddress },
        { ...w2, address: w1.address, internalAddress: w1.internalAddress },
      ],
    });
    expect(refused('w2', swapped, live(), its)).toEqual([
      expect.stringContaining(
        'the machine at 203.0.113.21 is not w2: its kubelet has the client certificate of node w1',
      ),
    ]);
  });

  test('is refused where it is a control plane', () => {
    expect(refused('cp3', { cp2: cp3, cp3: cp2 })).toEqual([
      expect.stringContaining(
        'the machine at 203.0.113.13 is not cp3: its kubelet has the client certificate of node cp2',
      ),
    ]);
  });

  test('is refused while the API does not answer: the certificates on the host decide', () => {
    expect(refused('w1', swapped, DOWN)).toEqual([
      'w1: refused: the machine at 203.0.113.21 is not w1: its kubelet has the client certificate of node w2 (this machine is 203.0.113.21, machine-id m-w2)',
    ]);
    expect(refused('w1', {}, DOWN)).toEqual([]);
  });

  test('is refused by the name with which its kubelet registers, where the certificate cannot be read and no API answers', () => {
    const without = (over: Partial<LinuxFacts>) =>
      ({ w1: { ...machineOf(w1), kubeletClient: 'unreadable', ...over } }) as const;
    expect(refused('w1', without({ hostname: 'w2' }), DOWN)).toEqual([
      expect.stringContaining('its kubelet registers as w2, and has no certificate that can be read'),
    ]);
    expect(refused('w1', without({ hostname: 'W1' }), DOWN)).toEqual([]);
    expect(refused('w1', without({ hostname: 'box', kubeletFlags: ['--hostname-override=w1'] }), DOWN)).toEqual([]);
    // The API tells by the machine-id.
    expect(refused('w1', without({ hostname: 'box' }))).toEqual([]);
  });

  test('is unknown, and not absent, while the certificate could not be asked for', () => {
    const silent = Object.defineProperty({ ...machineOf(w1) }, 'kubeletClient', {
      enumerable: false,
      get: () => {
        throw new FactError('w1', 'kubeletClient', 'no answer');
      },
    });
    const facts = Object.create(joinedHost(w1)[1], Object.getOwnPropertyDescriptors(silent)) as LinuxFacts;
    expect(() =>
      changeRefusals(inventory, fleetIn(live(), joinedHost(cp1, machineOf(cp1)), [w1, facts]), ['w1']),
    ).toThrow('could not tell kubeletClient');
  });

  test('is left out of `up`, which goes on with the others', () => {
    const fleet = fleetIn(
      live(),
      joinedHost(cp1, machineOf(cp1)),
      joinedHost(w1, machineOf(w2)),
      joinedHost(w2, machineOf(w2)),
    );
    expect(refusedWorkers(inventory, fleet, undefined).map(({ host }) => host.name)).toEqual(['w1']);
  });

  test.each([undefined, ['w1']])('is refused by `reset`, typed or not (hosts: %s)', (only) => {
    const fleet = fleetIn(live(), joinedHost(cp1, machineOf(cp1)), joinedHost(w1, machineOf(w2)));
    expect(
      resetRefusals(inventory, fleet, { hosts: only, confirmed: ['demo', 'w1'] }).map(({ message }) => message),
    ).toEqual([expect.stringContaining('the machine at 203.0.113.21 is not w1')]);
  });
});

test('`reset` refuses a machine that bears another host’s certificate also while no control plane is reached, though its name was typed', () => {
  const alone = fleetIn({ state: 'absent' }, joinedHost(w1, machineOf(w2)), joinedHost(w2, machineOf(w1)));
  const messages = (fleet: typeof alone) =>
    resetRefusals(inventory, fleet, { hosts: ['w1'], confirmed: ['w1'] }).map(({ message }) => message);
  expect(messages(alone)).toEqual([expect.stringContaining('its kubelet has the client certificate of node w2')]);
  // A host of another cluster may have a name that this inventory has, too.
  const foreign = joinedHost(w1, { ...machineOf(w2), caFingerprint: OTHER_CA });
  expect(messages(fleetIn(live(), joinedHost(cp1, machineOf(cp1)), foreign))).toEqual([]);
});

describe('a copy of a machine', () => {
  const copy = (over: Partial<LinuxFacts>) => ({ w1: { ...machineOf(w1), bootId: 'another', ...over } });
  const at = (address: string): Partial<LinuxFacts> => ({
    interfaces: [{ name: 'eth0', addresses: [address], mac: '', mtu: 1500 }],
  });

  test('with the machine-id and the certificate of a node that is Ready at another address is refused', () => {
    expect(refused('w1', copy(at('10.0.0.99')))).toEqual([
      expect.stringContaining('the machine at 203.0.113.21 is not w1: it does not have the address 10.0.0.21'),
    ]);
  });

  test('with a machine-id of its own is refused, also at the same address, and its kubelet is named as the way out', () => {
    const seen = fleetIn(
      live(),
      joinedHost(cp1, machineOf(cp1)),
      joinedHost(w1, { ...machineOf(w1), bootId: 'x', machineId: 'm-copy' }),
    );
    const [found] = changeRefusals(inventory, seen, ['w1']);
    expect(found?.message).toContain(
      'its machine-id is another one (this machine is 10.0.0.21, machine-id m-copy; node w1 is 10.0.0.21, machine-id m-w1)',
    );
    expect(found?.remedy).toContain('restart the kubelet here');
  });

  test('that took the place of a machine which is gone is that node', () => {
    expect(refused('w1', copy(at('10.0.0.99')), live({ w1: { ready: false } }))).toEqual([]);
    expect(refused('w1', copy({}))).toEqual([]);
  });
});

describe('a joined host that is its own node', () => {
  test.each([
    ['got another address and another machine-id since it booted', { machineId: 'm-new', interfaces: [] }, {}],
    [
      'has several network interfaces',
      {
        interfaces: [
          { name: 'ssh', addresses: ['203.0.113.21'], mac: '', mtu: 1500 },
          { name: 'eth1', addresses: ['10.0.0.21'], mac: '', mtu: 1500 },
        ],
      },
      {},
    ],
    ['restarted a moment ago', { bootId: 'next' }, {}],
    ['has a node without an address in the API', { bootId: 'next' }, { internalAddress: '' }],
    ['has a node that names no machine', {}, { machineId: '', bootId: '' }],
  ] as const)('may be changed if it %s', (_, facts, node) => {
    expect(refused('w1', { w1: { ...machineOf(w1), ...(facts as Partial<LinuxFacts>) } }, live({ w1: node }))).toEqual(
      [],
    );
  });

  test('may be changed though another host has a copy of its machine-id', () => {
    const same = live({ w1: { machineId: 'copied' }, w2: { machineId: 'copied' } });
    const machines = { w1: { ...machineOf(w1), machineId: 'copied' }, w2: { ...machineOf(w2), machineId: 'copied' } };
    expect(refused('w1', machines, same)).toEqual([]);
    expect(refused('w1', { w1: { ...machines.w2, bootId: 'boot-w2' } }, same)).not.toEqual([]);
  });

  test('was reinstalled and holds nothing of a cluster: what `up` finds there is judged as before', () => {
    const bare = freshHost(w1, { ...machineOf(w1), machineId: 'm-new', kubeletClient: 'absent' });
    expect(changeRefusals(inventory, fleetIn(live(), joinedHost(cp1, machineOf(cp1)), bare), ['w1'])).toEqual([]);
  });
});

test('a half-finished host that bears the certificate of another host is not undone as this one', () => {
  const half = joinedHost(w1, {
    ...machineOf(w2),
    marker: { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' },
    kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf']),
    caFingerprint: 'absent',
  });
  const fleet = fleetIn(clusterOf({ nodes: [nodeOn(cp1)] }), joinedHost(cp1, machineOf(cp1)), half);
  expect(changeRefusals(inventory, fleet, ['w1']).map(({ message }) => message)).toEqual([
    expect.stringContaining('its kubelet has the client certificate of node w2'),
  ]);
  expect(changeRefusals(inventoryOf({ hosts: [cp1, w1] }), fleet, ['w1'])).toEqual([]);
});

describe('a host of role etcd', () => {
  const e1 = hostOf({ name: 'e1', role: 'etcd', address: '203.0.113.31', internalAddress: '10.0.0.31' });
  const e2 = hostOf({ name: 'e2', role: 'etcd', address: '203.0.113.32', internalAddress: '10.0.0.32' });
  const built = inventoryOf({ hosts: [cp1, e1, e2], etcd: { ...inventory.etcd, topology: 'built' } as never });
  const member = (name: string): Partial<LinuxFacts> => ({
    kubernetesTraces: new Set(['/etc/kubernetes/manifests/etcd.yaml', '/var/lib/etcd/member']),
    etcdToken: 'demo',
    caFingerprint: CA,
    kubeletClient: 'absent',
    etcdPki: {
      nowMs: 0,
      isUnfinished: false,
      authority: CA,
      certificates: [
        {
          name: 'peer',
          hasKey: true,
          isIssued: true,
          beginsMs: 0,
          expiresMs: 1,
          names: [name, 'localhost', '127.0.0.1'],
        },
      ],
    },
    interfaces: [{ name: 'eth0', addresses: [name === 'e1' ? '10.0.0.31' : '10.0.0.32'], mac: '', mtu: 1500 }],
  });
  const members = [
    memberOf(1, { name: 'e1', peerUrl: 'https://10.0.0.31:2380' }),
    memberOf(2, { name: 'e2', peerUrl: 'https://10.0.0.32:2380' }),
  ];
  const etcd = { state: 'up', via: 'e1', members, alarms: [] } as const;
  const messages = (cluster: ClusterView, first: string, second: string) =>
    changeRefusals(
      built,
      fleetIn(cluster, joinedHost(cp1, machineOf(cp1)), freshHost(e1, member(first)), freshHost(e2, member(second))),
      ['e1'],
    ).map(({ message }) => message);

  test.each([
    ['answers', etcd],
    ['does not answer', { state: 'down', reason: 'no quorum' }],
  ] as const)('is refused by its certificates if it is another member, while etcd %s', (_, state) => {
    const cluster: ClusterView = { ...DOWN, etcd: state };
    expect(messages(cluster, 'e2', 'e1')).toEqual([
      expect.stringContaining('the machine at 203.0.113.31 is not e1: its etcd has the certificate of member e2'),
    ]);
    expect(messages(cluster, 'e1', 'e2')).toEqual([]);
  });
});

test('a worker that joined with addresses of both families is the one of the inventory with both, in that order alone', () => {
  const both: LinuxHost = { ...w1, secondAddress: 'fd00::21' };
  const leftOut = (host: LinuxHost, nodeIp: string): readonly string[] => {
    const facts = { ...machineOf(host), kubeletFlags: [`--node-ip=${nodeIp}`] };
    const fleet = fleetIn(live(), joinedHost(cp1, machineOf(cp1)), joinedHost(host, facts));
    return refusedWorkers({ ...inventory, hosts: [cp1, host] }, fleet, undefined).map(({ error }) => error.message);
  };
  const joined = `${w1.internalAddress},fd00::21`;
  expect([leftOut(both, joined), leftOut(w1, w1.internalAddress)]).toEqual([[], []]);
  expect(leftOut(w1, joined)).toEqual([expect.stringContaining(`with the address ${joined}`)]);
  expect(leftOut(both, w1.internalAddress)).toEqual([expect.stringContaining(`the inventory says ${joined}`)]);
});
