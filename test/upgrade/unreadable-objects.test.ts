/** Objects of alpha API versions: no newer API server can read them, so an upgrade waits until the operator has deleted them. */
import { expect, test } from 'vitest';
import { unreadableApis, unreadableRefusals } from '../../src/upgrade/upgrade.refusal.ts';
import { inventoryOf } from '../fakes/cluster.ts';

// The release notes of 1.35 (#134784) and of 1.37 (#138572) ask for it.
test.each([
  ['1.34.4', '1.35.8', ['StorageVersionMigration.v1alpha1.storagemigration.k8s.io']],
  ['1.36.3', '1.37.1', ['Workload.v1alpha2.scheduling.k8s.io', 'PodGroup.v1alpha2.scheduling.k8s.io']],
])('on the way from %s to %s these may have no objects', (from, to, apis) => {
  expect(unreadableApis(from, to)).toEqual(expect.arrayContaining(apis));
});

test('beta versions are converted, and a patch removes nothing', () => {
  expect(unreadableApis('1.33.1', '1.37.1').filter((api) => !api.includes('alpha'))).toEqual([]);
  expect(unreadableApis('1.37.0', '1.37.1')).toEqual([]);
});

test('each API version with objects is a refusal that leaves the objects to the operator', () => {
  const inventory = inventoryOf();
  const refused = unreadableRefusals(inventory, [{ api: 'Workload.v1alpha2.scheduling.k8s.io', count: 2 }]);
  expect(refused.map(({ message, remedy, exitCode }) => ({ message, remedy, exitCode }))).toEqual([
    {
      exitCode: 7,
      message: `${inventory.name}: refused: Kubernetes ${inventory.kubernetes.minor} cannot read 2 objects of Workload.v1alpha2.scheduling.k8s.io, and has no newer version of them`,
      remedy:
        'delete those objects yourself when you know what they are for (`kubectl get Workload.v1alpha2.scheduling.k8s.io -A`), then run `kbuild upgrade` again',
    },
  ]);
});
