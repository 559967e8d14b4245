import { expect, test } from 'vitest';
import type { Phase } from '../../src/engine/step.ts';
import { corednsSpread, spreadAfterDrains } from '../../src/kubeadm/coredns.step.ts';
import { linuxPhase } from '../engine/world.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedHost,
  nodeOf,
  podOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf();
const dns = (name: string, node: string) => podOf({ name, node, labels: { 'k8s-app': 'kube-dns' } });
const control = nodeOf({ name: 'cp1', role: 'control-plane' });
const of = (pods: ReturnType<typeof dns>[], worker = nodeOf({ name: 'w1' })) =>
  fleetIn(clusterOf({ nodes: [control, worker], pods }), joinedHost(cp1), joinedHost(w1));
const together = [dns('coredns-a', 'cp1'), dns('coredns-b', 'cp1')];

test('all but one of the pods leave the node that founded the cluster', async () => {
  const target = targetOf(inventory, w1, of(together));
  const [change] = corednsSpread.diff(target);
  expect(change!.summary).toBe('spread CoreDNS over the nodes (found all of it on cp1)');
  const { on, sent } = recordingOn();
  await change!.apply!(on);
  expect((sent[0] as { readonly script: string }).script).toContain(
    'delete pod --ignore-not-found --wait=false coredns-b',
  );
  expect(corednsSpread.diff(targetOf(inventory, cp1, of(together)))).toEqual([]);
});

test('needs nothing if the pods are on several nodes, or the node cannot run them', () => {
  expect(corednsSpread.diff(targetOf(inventory, w1, of([dns('a', 'cp1'), dns('b', 'w1')])))).toEqual([]);
  const cordoned = nodeOf({ name: 'w1', unschedulable: true });
  expect(corednsSpread.diff(targetOf(inventory, w1, of(together, cordoned)))).toEqual([]);
  // The second taint is that of a cordon which the controller manager has not removed yet.
  for (const key of ['gpu', 'node.kubernetes.io/unschedulable']) {
    const tainted = nodeOf({ name: 'w1', taints: [{ key, effect: 'NoSchedule' }] });
    expect(corednsSpread.diff(targetOf(inventory, w1, of(together, tainted)))).toEqual([]);
  }
});

test('it is planned with a cluster of several hosts, on each: the scheduler chooses which one gets all of it', () => {
  const bare = fleetOf(freshHost(cp1), freshHost(w1));
  for (const host of [cp1, w1])
    expect(corednsSpread.diff(targetOf(inventory, host, bare)).map(({ summary }) => summary)).toEqual([
      'spread CoreDNS over the nodes, if all of it is on one',
    ]);
  const alone = inventoryOf({ hosts: [cp1] });
  expect(corednsSpread.diff(targetOf(alone, cp1, fleetOf(freshHost(cp1))))).toEqual([]);
});

test('after drains it is foreseen on each host that they may touch, so a worker that the run leaves as it is waits for nothing', () => {
  const [phase] = spreadAfterDrains([linuxPhase('verify', [w1], [corednsSpread])], () => true) as [Phase<'linux'>];
  const spread = [dns('a', 'cp1'), dns('b', 'w1')];
  expect(phase.steps[0]!.diff(targetOf(inventory, w1, of(spread)))).toEqual([
    { summary: 'spread CoreDNS over the nodes, if the drains leave all of it on one', foreseen: true },
  ]);
  expect(phase.steps[0]!.diff(targetOf(inventory, w1, of(together)))[0]!.foreseen).toBeUndefined();
});
