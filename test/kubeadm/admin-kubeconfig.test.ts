import { describe, expect, test } from 'vitest';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { adminKubeconfig } from '../../src/kubeadm/kubeconfigs.step.ts';
import { clusterOf, cp1, factsOf, fleetIn, inventoryOf, joinedControlPlane, targetOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf();
const down: ClusterView = { state: 'down', reason: 'its admin.conf is gone' };
const FILES = ['/etc/kubernetes/kubelet.conf', '/etc/kubernetes/manifests/kube-apiserver.yaml'];
const KEY = '/etc/kubernetes/pki/ca.key';
const lost = (...files: readonly string[]) => joinedControlPlane({ kubernetesTraces: new Set([...FILES, ...files]) });
const due = (facts = lost(KEY), cluster: ClusterView = down, of = inventory) =>
  adminKubeconfig.diff(targetOf(of, cp1, fleetIn(cluster, [cp1, facts])));

describe('a lost admin.conf', () => {
  test.each([
    ['of the only control plane, where no API can be asked', down],
    ['of one of several, which the others show', clusterOf()],
  ])('%s is made again by the key of the CA', async (_, cluster) => {
    const changes = due(lost(KEY), cluster);
    expect(changes.map(({ summary }) => summary)).toEqual([
      'make /etc/kubernetes/admin.conf of cp1 again (found none)',
    ]);
    const { on, sent } = recordingOn();
    await changes[0]!.apply!(on);
    expect(sent).toMatchObject([{ host: 'cp1', kind: 'job', title: 'kubeadm/admin-kubeconfig.sh' }]);
    const { files } = sent[0] as { readonly files: Readonly<Record<string, string>> };
    expect(files['config.yaml']).toContain('clusterName: "demo"');
  });

  test('is refused with the way to go where the key of the CA is gone, too', () => {
    expect(() => due(lost())).toThrow(
      "cp1: refused: its /etc/kubernetes/admin.conf is gone, and so is the key of the cluster's CA (/etc/kubernetes/pki/ca.key) that would sign a new one",
    );
  });

  test('is signed by the inventory’s signing command where no host has the key', () => {
    const ca = { cert: 'CERT', sign: () => Promise.resolve('') };
    expect(
      due(lost(), down, inventoryOf({ certificates: { distribution: 'copy', renewBeforeMs: 30 * 86_400_000, ca } })),
    ).toHaveLength(1);
  });
});

test('needs nothing if it exists, or on a host without a control plane', () => {
  expect(due(lost(KEY, '/etc/kubernetes/admin.conf'))).toEqual([]);
  expect(due(factsOf())).toEqual([]);
});
