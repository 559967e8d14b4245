import { describe, expect, test } from 'vitest';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { labelsAndTaints } from '../../src/kubeadm/labels-taints.step.ts';
import {
  clusterOf,
  cp1,
  factsOf,
  fleetIn,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  joinedWorker,
  nodeOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf();
const gpu = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' } as const;
const controlPlane = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' } as const;
const applied = (labels: readonly string[], taints: readonly string[]) => ({
  'kbuild.dev/applied': JSON.stringify({ labels, taints }),
});

const joined = (host: LinuxHost) => (host.role === 'control-plane' ? joinedControlPlane() : joinedWorker());
const changes = (host: LinuxHost, node: NodeView | undefined, seen = node === undefined ? factsOf() : joined(host)) => {
  const cluster = node === undefined ? clusterOf({ nodes: [] }) : clusterOf({ nodes: [node] });
  return labelsAndTaints.diff(targetOf(inventory, host, fleetIn(cluster, joinedHost(cp1), [host, seen])));
};
const summaries = (host: LinuxHost, node: NodeView | undefined) => changes(host, node).map(({ summary }) => summary);

describe('a node without labels and taints in the inventory', () => {
  test('keeps labels and taints that kbuild did not set', () => {
    const node = nodeOf({ name: 'w1', labels: { theirs: 'x' }, taints: [{ key: 'theirs', effect: 'NoExecute' }] });
    expect(summaries(w1, node)).toEqual([]);
  });

  test('that has not joined needs nothing', () => {
    expect(summaries(w1, undefined)).toEqual([]);
  });
});

describe('labels', () => {
  const host = { ...w1, labels: { disk: 'ssd' } };

  test('are planned before the node is there', () => {
    expect(summaries(host, undefined)).toEqual(['label w1 disk=ssd']);
  });

  test('are set, and corrected', () => {
    expect(summaries(host, nodeOf({ name: 'w1', labels: { disk: 'hdd' } }))).toEqual(['label w1 disk=ssd']);
  });

  test('hold', () => {
    const node = nodeOf({ name: 'w1', labels: { disk: 'ssd' }, annotations: applied(['disk'], []) });
    expect(summaries(host, node)).toEqual([]);
  });

  test('that the inventory no longer has are taken back, and only kbuild’s own', () => {
    const node = nodeOf({ name: 'w1', labels: { disk: 'ssd', theirs: 'x' }, annotations: applied(['disk'], []) });
    expect(summaries(w1, node)).toEqual(['take label disk from w1']);
  });

  test.each([
    ['torn', '{"labels":'],
    ['of a newer kbuild', '{"version":2,"labels":{"disk":{"value":"ssd"}},"taints":{"dedicated":"NoSchedule"}}'],
    ['a list', '["disk"]'],
    ['a number', '7'],
    ['a text', '"disk"'],
    ['null', 'null'],
    ['of lists that name nothing', '{"labels":[null,7,["disk"]],"taints":[{"key":"dedicated","effect":"NoSchedule"}]}'],
  ])('a note that is %s takes nothing back, and is written anew', async (_, note) => {
    const node = nodeOf({
      name: 'w1',
      labels: { disk: 'ssd' },
      taints: [gpu],
      annotations: { 'kbuild.dev/applied': note },
    });
    const found = changes(w1, node);
    expect(found.map(({ summary }) => summary)).toEqual(["note on w1 which labels and taints are kbuild's"]);
    const { on, sent } = recordingOn();
    await found[0]!.apply!(on);
    expect((sent[0] as { readonly script: string }).script).toContain('kbuild.dev/applied={"labels":[],"taints":[]}');
  });
});

describe('taints', () => {
  test('of a joining node come with it and are only noted', () => {
    expect(summaries({ ...w1, taints: [gpu] }, undefined)).toEqual(["note on w1 which labels and taints are kbuild's"]);
  });

  test('are set on a live node and taken back', () => {
    expect(summaries({ ...w1, taints: [gpu] }, nodeOf({ name: 'w1' }))).toEqual(['taint w1 dedicated=gpu:NoSchedule']);
    const node = nodeOf({ name: 'w1', taints: [gpu], annotations: applied([], ['dedicated:NoSchedule']) });
    expect(summaries(w1, node)).toEqual(['take taint dedicated:NoSchedule from w1']);
  });

  test('an empty list frees a control plane for pods; none at all is kubeadm’s default', () => {
    const tainted = nodeOf({ name: 'cp1', role: 'control-plane', taints: [controlPlane] });
    expect(summaries(cp1, tainted)).toEqual([]);
    expect(summaries({ ...cp1, taints: [] }, tainted)).toEqual([
      'take taint node-role.kubernetes.io/control-plane:NoSchedule from cp1',
    ]);
    expect(summaries(cp1, nodeOf({ name: 'cp1', role: 'control-plane' }))).toEqual([
      'taint cp1 node-role.kubernetes.io/control-plane:NoSchedule',
    ]);
  });
});

describe('a control plane that lacks what kubeadm’s last phase sets', () => {
  const bare = nodeOf({ name: 'cp1' });
  const role = 'node-role.kubernetes.io/control-plane=';

  test('gets its role and its taint', () => {
    expect(summaries(cp1, bare)).toEqual([
      `label cp1 ${role}, node.kubernetes.io/exclude-from-external-load-balancers=; taint cp1 node-role.kubernetes.io/control-plane:NoSchedule`,
    ]);
  });

  test('gets no taint that the inventory removes, and keeps a value that the inventory sets', () => {
    const labels = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'no' };
    const [summary] = summaries({ ...cp1, taints: [], labels }, bare);
    expect(summary).toBe(`label cp1 ${role}, node.kubernetes.io/exclude-from-external-load-balancers=no`);
  });

  test('does not get back a label that its operator removed, while it has its role', () => {
    const node = nodeOf({ name: 'cp1', role: 'control-plane', taints: [controlPlane] });
    expect(summaries(cp1, node)).toEqual([]);
  });

  test('gets nothing where the inventory skips that phase', () => {
    const skipping = inventoryOf({
      kubeadm: { ...inventory.kubeadm, init: { skipPhases: ['mark-control-plane'] } },
    });
    const fleet = fleetIn(clusterOf({ nodes: [{ ...bare, taints: [controlPlane] }] }), joinedHost(cp1));
    expect(labelsAndTaints.diff(targetOf(skipping, cp1, fleet))).toEqual([]);
  });

  test('has its taint planned before its deleted node is registered again', () => {
    expect(changes(cp1, undefined, joinedControlPlane()).map(({ summary }) => summary)).toEqual([
      'taint cp1 node-role.kubernetes.io/control-plane:NoSchedule',
    ]);
  });
});

test('the note is written by the acting control plane with all that changes', async () => {
  const [change] = changes({ ...w1, labels: { disk: 'ssd' }, taints: [gpu] }, nodeOf({ name: 'w1' }));
  const { on, sent } = recordingOn();
  await change!.apply!(on);
  expect(sent).toMatchObject([{ host: 'cp1', title: 'kubeadm/label-node.sh' }]);
  const { script } = sent[0] as { readonly script: string };
  expect(script).toContain('LABELS=disk=ssd\nTAINTS=dedicated=gpu:NoSchedule\n');
  expect(script).toContain(`kbuild.dev/applied={"labels":["disk"],"taints":["dedicated:NoSchedule"]}`);
});
