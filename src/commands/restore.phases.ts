import type { Manifest } from '../backup/manifest.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import { cluster, linux } from '../engine/phases.ts';
import type { Phase } from '../engine/step.ts';
import type { Restore } from '../etcd/restore-stage.step.ts';
import { forgotten, prepared, served, serving, started, stopped, swapped, taken } from '../etcd/restore.step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { FromBackup } from '../kubeadm/run-kubeadm.step.ts';
import { lostNodesDeleted } from '../kubeadm/tokens.step.ts';
import { manifestsBack } from '../upgrade/control-plane.step.ts';
import { up } from './up.phases.ts';

/**
 * The phases of `up` until the first control plane serves. The data of the backup takes the place of an etcd on other
 * hosts.
 */
const firstOf = (phases: readonly Phase[]): readonly Phase[] =>
  phases
    .slice(0, phases.findIndex(({ name }) => name === 'settings') + 1)
    .filter(({ name }) => name !== 'reach-etcd' && !name.startsWith('etcd-'));

/**
 * The first part of `kbuild restore`: the hosts are prepared as by `up`, and the first control plane begins with the
 * keys and the data of the backup. `up` does the rest: the others join, and workers come by themselves.
 */
export const restoreBackupPhases = (
  inventory: Inventory,
  from: FromBackup,
  manifest: Manifest,
  before: BeforeMembership,
  keep: KeepData,
): readonly Phase[] => [
  ...firstOf(up(inventory, before, keep, from)),
  cluster('lost-nodes', 'Forget the lost control planes', controlPlanes(inventory), [lostNodesDeleted(manifest)]),
];

/** The hosts of a restore: control planes and members of etcd, each once. */
export const restoreHosts = ({ controls, members }: Pick<Restore, 'controls' | 'members'>): readonly LinuxHost[] => [
  ...new Map([...controls, ...members].map((host) => [host.name, host])).values(),
];

/**
 * What `kbuild etcd snapshot restore` does: manifests that an upgrade which was cut off has moved away come back, for
 * the restored control plane needs them, and the marker of that upgrade is kept until the restore has ended. Every host
 * creates its new data. Then all API servers and etcds stop. The new data takes the place of the old data, which is
 * kept. etcd starts everywhere, then the API servers. Each phase waits for all hosts, so no restored member starts
 * while an old one runs. If it is cut off, the same command continues. `kbuild etcd recover` does the same, but stops
 * etcd first, and creates the new data from the old.
 */
export function restorePhases(restore: Restore): readonly Phase[] {
  const all = restoreHosts(restore);
  const stop = linux('restore-stop', 'Stop the control plane', all, [stopped(restore)]);
  return [
    linux('restore-repair', 'Put back manifests of an upgrade that was cut off', restore.controls, [
      jobEnded,
      manifestsBack,
    ]),
    ...(restore.snapshot === undefined
      ? [stop, linux('recover-take', 'Take over the data of etcd', all, [taken(restore)])]
      : [linux('restore-prepare', 'Prepare etcd data from the snapshot', all, [prepared(restore)]), stop]),
    linux('restore-swap', 'Start etcd with the restored data', restore.members, [swapped(restore)]),
    linux('restore-start', 'Start the API servers', all, [started(restore)]),
    linux('restore-serves', 'Verify the restored data', all, [serving(restore)]),
    linux('restore-end', 'End the restore', all, [served(restore)]),
    linux('restore-forget', 'Remove the notes of the restore', all, [forgotten(restore)]),
  ];
}
