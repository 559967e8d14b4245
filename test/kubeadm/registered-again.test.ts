import { expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { changeRefusals } from '../../src/cluster/host.refusal.ts';
import { registeredAgain } from '../../src/kubeadm/register-node.step.ts';
import { certificateOf } from '../fakes/certificate.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  inventoryOf,
  joinedHost,
  joinedWorker,
  nodeOf,
  nodesOf,
  podOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf();
const nowMs = Date.parse('2026-06-01T00:00:00.000Z');
const certificate = certificateOf('kubelet-client', '2027-01-01T00:00:00.000Z');
const worker = (facts: Partial<LinuxFacts> = {}): LinuxFacts =>
  joinedWorker({
    nowMs,
    certificates: [certificate],
    interfaces: [
      { name: 'eth0', addresses: ['10.0.0.21'], mac: '', mtu: 1500 },
      { name: 'cni0', addresses: ['10.244.1.1'], mac: '', mtu: 1450 },
    ],
    ...facts,
  });
const due = (facts: LinuxFacts, cluster = clusterOf()) => {
  const target = targetOf(inventory, w1, fleetIn(cluster, joinedHost(cp1), [w1, facts]));
  return registeredAgain.flatMap((step) => step.diff(target));
};

test('a joined host whose node was deleted gets its kubelet restarted, without the bridge of the old pod network', async () => {
  const changes = due(worker());
  expect(changes.map(({ summary }) => summary)).toEqual([
    'restart the kubelet of w1, which registers its node again (found the node deleted)',
  ]);
  const { on, sent } = recordingOn();
  await changes[0]!.apply!(on);
  expect(sent).toMatchObject([{ host: 'w1', kind: 'job', title: 'kubeadm/register-node.sh' }]);
  const { script } = sent[0] as { readonly script: string };
  expect(script).toContain('INTERFACES=cni0');
  expect(script).toContain('FILES=/run/flannel/subnet.env');
});

test('kbuild first waits until the pods of the deleted node are gone', () => {
  const pods = [podOf({ name: 'kube-proxy-x', node: 'w1' }), podOf({ name: 'other', node: 'cp1' })];
  expect(due(worker(), clusterOf({ pods }))[0]).toEqual({
    summary: 'wait until Kubernetes has deleted the pods of w1, whose node was deleted (found 1)',
  });
});

test('needs nothing while the node exists, or while no API answers', () => {
  expect(due(worker(), clusterOf({ nodes: nodesOf(cp1, w1) }))).toEqual([]);
  const target = targetOf(
    inventory,
    w1,
    fleetIn({ state: 'down', reason: 'no answer' }, joinedHost(cp1), [w1, worker()]),
  );
  expect(registeredAgain.flatMap((step) => step.diff(target))).toEqual([]);
});

test.each([
  ['ended', [{ ...certificate, expires: '2026-05-01T00:00:00.000Z' }], 'its certificate ended 2026-05-01'],
  ['is gone', [], 'its certificate is gone'],
])('a kubelet whose certificate %s is refused, with the way to join it again', (_, certificates, text) => {
  expect(() => due(worker({ certificates }))).toThrow(text);
});

test('a machine that the cluster knows by another name is not registered a second time', () => {
  const nodes = [...clusterOf().nodes, nodeOf({ name: 'old', machineId: 'aa' })];
  const fleet = fleetIn(clusterOf({ nodes }), joinedHost(cp1), [w1, worker({ machineId: 'aa' })]);
  expect(changeRefusals(inventory, fleet, ['w1']).map(({ message }) => message)).toEqual([
    'w1: refused: demo knows this machine as old',
  ]);
});
