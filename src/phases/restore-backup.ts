import type { Manifest } from '../backup/manifest.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { FromBackup } from '../configuration/kubeadm-job.ts';
import type { Phase } from '../engine/step.ts';
import { lostNodesDeleted } from '../kubeadm/lost-nodes.ts';
import type { Inventory } from '../model/inventory.ts';
import { controlPlanes } from '../topology/select.ts';
import { controlPlanePhases } from './control-plane.ts';
import { preparePhases } from './prepare.ts';

/**
 * The first part of `kbuild restore`: the hosts are prepared as by `up`, and the first control plane begins with the keys and
 * the data of the backup. `up` does the rest: the others join, and workers come by themselves.
 */
export const restoreBackupPhases = (
  inventory: Inventory,
  from: FromBackup,
  manifest: Manifest,
  before: BeforeMembership,
  keep: KeepData,
): readonly Phase[] => [
  ...preparePhases(inventory),
  ...controlPlanePhases(inventory, before, keep, from),
  {
    name: 'lost-nodes',
    title: 'Forget the lost control planes',
    kind: 'cluster',
    hosts: controlPlanes(inventory),
    steps: [lostNodesDeleted(manifest)],
  },
];
