import type { Manifest } from '../backup/manifest.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import { cluster } from '../engine/phases.ts';
import type { Phase } from '../engine/step.ts';
import type { Restore } from '../etcd/restore-stage.step.ts';
import { forgotten, prepared, served, serving, started, stopped, swapped, taken } from '../etcd/restore.step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { FromBackup } from '../kubeadm/job.step.ts';
import { lostNodesDeleted } from '../kubeadm/tokens.step.ts';
import { manifestsBack } from '../upgrade/control-plane.step.ts';
import { up } from './up.phases.ts';

/** The phases of `up` until the first control plane serves. The data of the backup takes the place of an etcd on other hosts. */
const firstOf = (phases: readonly Phase[]): readonly Phase[] =>
  phases
    .slice(0, phases.findIndex(({ name }) => name === 'settings') + 1)
    .filter(({ name }) => name !== 'reach-etcd' && !name.startsWith('etcd-'));

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
  ...firstOf(up(inventory, before, keep, from)),
  cluster('lost-nodes', 'Forget the lost control planes', controlPlanes(inventory), [lostNodesDeleted(manifest)]),
];

/** The hosts of a restore: control planes and members of etcd, each once. */
export const restoreHosts = ({ controls, members }: Pick<Restore, 'controls' | 'members'>): readonly LinuxHost[] => [
  ...new Map([...controls, ...members].map((host) => [host.name, host])).values(),
];

/**
 * What `kbuild etcd snapshot restore` does: manifests that an upgrade which was cut off has moved away come back, for the restored control
 * plane needs them, and the marker of that upgrade is kept until the restore has ended. Every host creates its new data. Then all API servers
 * and etcds stop. The new data takes the place of the old data, which is kept. etcd starts everywhere, then the API servers. Each phase
 * waits for all hosts, so no restored member starts while an old one runs. If it is cut off, the same command continues.
 * `kbuild etcd recover` does the same, but stops etcd first, and creates the new data from the old.
 */
export function restorePhases(restore: Restore): readonly Phase[] {
  const all = { kind: 'linux', hosts: restoreHosts(restore) } as const;
  const stop: Phase = { name: 'restore-stop', title: 'Stop the control plane', ...all, steps: [stopped(restore)] };
  const first: readonly Phase[] =
    restore.snapshot === undefined
      ? [stop, { name: 'recover-take', title: 'Take over the data of etcd', ...all, steps: [taken(restore)] }]
      : [
          { name: 'restore-prepare', title: 'Prepare etcd data from the snapshot', ...all, steps: [prepared(restore)] },
          stop,
        ];
  return [
    {
      name: 'restore-repair',
      title: 'Put back manifests of an upgrade that was cut off',
      ...all,
      hosts: restore.controls,
      steps: [jobEnded, manifestsBack],
    },
    ...first,
    {
      name: 'restore-swap',
      title: 'Start etcd with the restored data',
      ...all,
      hosts: restore.members,
      steps: [swapped(restore)],
    },
    { name: 'restore-start', title: 'Start the API servers', ...all, steps: [started(restore)] },
    { name: 'restore-serves', title: 'Verify the restored data', ...all, steps: [serving(restore)] },
    { name: 'restore-end', title: 'End the restore', ...all, steps: [served(restore)] },
    { name: 'restore-forget', title: 'Remove the notes of the restore', ...all, steps: [forgotten(restore)] },
  ];
}
