import { describe, expect, test } from 'vitest';
import { addLearner, membersOf, refuseTakenAddress, removeMembers } from '../../src/cluster/members.ts';
import { leavingOf } from '../../src/cluster/removal.ts';
import { removalRefusals } from '../../src/cluster/remove.refusal.ts';
import { Refused } from '../../src/errors.ts';
import type { MemberView } from '../../src/etcd/view.facts.ts';
import { joinControlPlane } from '../../src/kubeadm/join.step.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  factsOf,
  fleetIn,
  inventoryOf,
  joinedHost,
  memberOf,
  nodeOf,
  podOf,
  targetOf,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2, cp3] });
const members = [memberOf(1), memberOf(2), memberOf(3)];
const control = (name: string, internalAddress: string) => nodeOf({ name, role: 'control-plane', internalAddress });
const ids = (found: readonly MemberView[]) => found.map(({ id }) => id);

describe('an etcd member belongs to a host', () => {
  test('with its name, also after the host’s address changed', () => {
    expect(ids(membersOf({ members }, { ...cp3, internalAddress: '10.0.0.99' }))).toEqual(['3']);
  });

  test('with its address only if it has no name, as a learner that never started', () => {
    const learner = memberOf(3, { id: 'f', name: '', learner: true, healthy: false });
    expect(ids(membersOf({ members: [memberOf(1), learner] }, cp3))).toEqual(['f']);
    expect(ids(membersOf({ members }, { ...cp3, name: 'cp9' }))).toEqual([]);
  });

  test('never by the address of a worker', () => {
    const learner = memberOf(3, { id: 'f', name: '', learner: true, healthy: false });
    expect(ids(membersOf({ members: [memberOf(1), learner] }, { ...cp3, name: 'w9', role: 'worker' }))).toEqual([]);
  });
});

describe('a dead worker whose address DHCP has given to a healthy control plane', () => {
  const nodes = [
    control('cp1', '10.0.0.11'),
    control('cp2', '10.0.0.12'),
    control('cp3', '10.0.0.13'),
    nodeOf({ name: 'w9', internalAddress: '10.0.0.13', ready: false }),
  ];
  const fleet = fleetIn(clusterOf({ nodes, members }), joinedHost(cp1), joinedHost(cp2), joinedHost(cp3));
  const leaving = leavingOf(inventory, fleet, ['w9']);

  test('leaves without an etcd member', () => {
    expect(leaving).toEqual([{ name: 'w9', internalAddress: '10.0.0.13', role: 'worker' }]);
    expect(membersOf({ members }, leaving[0]!)).toEqual([]);
    expect(removalRefusals(inventory, fleet, leaving)).toEqual([]);
  });

  test('costs no etcd member', async () => {
    const list = members.map(({ id, name, peerUrl }) => ({
      ID: Number(id),
      name,
      peerURLs: [peerUrl],
      clientURLs: [`c${id}`],
    }));
    const health = list.map(({ ID }) => ({ endpoint: `c${String(ID)}`, health: true }));
    const said = `members ${JSON.stringify({ members: list })}\nhealth ${JSON.stringify(health)}\nstatus []\nalarms {}\n`;
    const { on, sent } = recordingOn({ run: () => said });
    await removeMembers(inventory, on(cp1), leaving[0]!);
    expect(sent).toHaveLength(1);
    expect(sent[0]).not.toMatchObject({ title: 'cluster/etcd-remove-member.sh' });
  });
});

test('refuses to remove a healthy member of the host’s name at another address, and names both addresses', async () => {
  const list = members.map(({ id, name, peerUrl }) => ({
    ID: Number(id),
    name,
    peerURLs: [peerUrl],
    clientURLs: [`c${id}`],
  }));
  const said = (healthy: boolean) =>
    `members ${JSON.stringify({ members: list })}\nhealth ${JSON.stringify(list.map(({ ID }) => ({ endpoint: `c${String(ID)}`, health: healthy || ID !== 3 })))}\nstatus []\nalarms {}\n`;
  const { on, sent } = recordingOn({ run: () => said(true) });
  await expect(removeMembers(inventory, on(cp1), { ...cp3, internalAddress: '10.0.0.77' })).rejects.toThrow(
    'cp3: refused: its etcd member 3 is healthy at https://10.0.0.13:2380, and the address of cp3 is 10.0.0.77',
  );
  expect(sent).toHaveLength(1);
});

test('refuses to remove a dead control plane whose node is Ready at another address', () => {
  const nodes = [control('cp1', '10.0.0.11'), control('cp2', '10.0.0.12'), control('cp3', '10.0.0.99')];
  const fleet = fleetIn(clusterOf({ nodes, members }), joinedHost(cp1), joinedHost(cp2));
  expect(removalRefusals(inventory, fleet, leavingOf(inventory, fleet, ['cp3'])).map(({ message }) => message)).toEqual(
    ['cp3: refused: its node is Ready at 10.0.0.99, and the inventory says 10.0.0.13: it is not gone'],
  );
});

test('refuses, before anything is drained, to remove a control plane whose member is healthy at another address than the inventory’s', () => {
  const nodes = [control('cp1', '10.0.0.11'), control('cp2', '10.0.0.12'), control('cp3', '10.0.0.13')];
  const moved = { ...cp3, internalAddress: '10.0.0.77' };
  const edited = inventoryOf({ hosts: [cp1, cp2, moved] });
  const fleet = fleetIn(clusterOf({ nodes, members }), joinedHost(cp1), joinedHost(cp2), joinedHost(moved));
  expect(removalRefusals(edited, fleet, leavingOf(edited, fleet, ['cp3'])).map(({ message }) => message)).toEqual([
    'cp3: refused: its etcd member 3 is healthy at https://10.0.0.13:2380, and the address of cp3 is 10.0.0.77',
  ]);
});

test('refuses to remove the last control plane, even if its node has lost the role', () => {
  const pods = [podOf({ name: 'kube-apiserver-cp1', labels: { component: 'kube-apiserver' } })];
  const nodes = [nodeOf({ name: 'cp1', internalAddress: '10.0.0.11' })];
  const one = inventoryOf({ hosts: [cp1] });
  const fleet = fleetIn(clusterOf({ nodes, pods, members: [] }), joinedHost(cp1));
  expect(removalRefusals(one, fleet, leavingOf(one, fleet, ['cp1'])).map(({ message }) => message)).toEqual([
    'cp1: refused: it is the last control plane of demo',
  ]);
});

test('refuses to remove the control plane at whose address the cluster is until it has moved to the inventory’s endpoint', () => {
  const moving = inventoryOf({ hosts: [cp1, cp2], endpoint: '10.0.0.100:8443' });
  const nodes = [control('cp1', '10.0.0.11'), control('cp2', '10.0.0.12')];
  const configuration = { ...clusterOf().configuration, controlPlaneEndpoint: '10.0.0.11:6443' };
  const fleet = fleetIn(clusterOf({ nodes, configuration, members: [] }), joinedHost(cp1), joinedHost(cp2));
  expect(removalRefusals(moving, fleet, leavingOf(moving, fleet, ['cp1'])).map(({ message }) => message)).toEqual([
    "cp1: refused: the cluster's endpoint 10.0.0.11:6443 is its address",
  ]);
});

test('removes a dead control plane whose address is now another host’s endpoint', () => {
  const at = inventoryOf({ hosts: [cp1, cp2], endpoint: '10.0.0.11:6443' });
  const nodes = [control('cp1', '10.0.0.11'), control('cp2', '10.0.0.12'), control('cp9', '10.0.0.11')];
  const fleet = fleetIn(clusterOf({ nodes, members: members.slice(0, 2) }), joinedHost(cp1), joinedHost(cp2));
  expect(removalRefusals(at, fleet, leavingOf(at, fleet, ['cp9']))).toEqual([]);
  expect(removalRefusals(at, fleet, leavingOf(at, fleet, ['cp1'])).map(({ message }) => message)).toEqual([
    expect.stringContaining('is its address'),
  ]);
});

describe('a member of another name at the address of a joining host', () => {
  const renamed = { ...cp3, name: 'cp3b' };

  test('is refused by the gate, which names both, and is not removed', () => {
    expect(() => refuseTakenAddress(members, renamed)).toThrow(
      "cp3b: refused: etcd's member cp3 (3, healthy) has its address https://10.0.0.13:2380",
    );
    const dead = [memberOf(1), memberOf(2), memberOf(3, { healthy: false })];
    expect(() => refuseTakenAddress(dead, renamed)).toThrow(
      expect.objectContaining({ remedy: 'if cp3 is gone for good: `kbuild remove cp3 --dead cp3`' }),
    );
    expect(() => refuseTakenAddress(members, cp3)).not.toThrow();
  });

  test('stops the plan and the join', async () => {
    const hosts = inventoryOf({ hosts: [cp1, cp2, renamed] });
    const cluster = clusterOf({ nodes: [control('cp1', '10.0.0.11'), control('cp2', '10.0.0.12')], members });
    const fleet = fleetIn(cluster, joinedHost(cp1), joinedHost(cp2), [renamed, factsOf()]);
    expect(() => joinControlPlane(() => Promise.resolve()).diff(targetOf(hosts, renamed, fleet))).toThrow(Refused);
    const said = `members ${JSON.stringify({ members: [{ ID: 3, name: 'cp3', peerURLs: ['https://10.0.0.13:2380'], clientURLs: [] }] })}\nalarms {}\n`;
    const { on, sent } = recordingOn({ run: () => said });
    await expect(addLearner(hosts, on(cp1), renamed)).rejects.toThrow(/member cp3 \(3, not healthy\)/);
    expect(sent).toHaveLength(1);
  });
});
