import type { Phase } from '../engine/step.ts';
import { prepared, served, serving, started, stopped, swapped, type Restore } from '../etcd/restore.ts';
import type { LinuxHost } from '../model/inventory.ts';

/** The hosts of a restore: control planes and members of etcd, each once. */
export const restoreHosts = ({ controls, members }: Pick<Restore, 'controls' | 'members'>): readonly LinuxHost[] => [
  ...new Map([...controls, ...members].map((host) => [host.name, host])).values(),
];

/**
 * What `kbuild etcd snapshot restore` does: data is made on every host first; then all API servers and etcds stop; the old data
 * is kept and the new one in its place; etcd starts everywhere, then the rest. Each phase waits for all hosts: no member starts
 * while one of the old etcd runs. Cut off anywhere, the same again goes on.
 */
export function restorePhases(restore: Restore): readonly Phase[] {
  const all = { kind: 'linux', hosts: restoreHosts(restore) } as const;
  return [
    { name: 'restore-prepare', title: "Make etcd's data from the snapshot", ...all, steps: [prepared(restore)] },
    { name: 'restore-stop', title: 'Stop the control plane', ...all, steps: [stopped(restore)] },
    {
      name: 'restore-swap',
      title: 'Start etcd with the restored data',
      ...all,
      hosts: restore.members,
      steps: [swapped(restore)],
    },
    { name: 'restore-start', title: 'Start the API servers', ...all, steps: [started(restore)] },
    { name: 'restore-serves', title: 'See the restored data served', ...all, steps: [serving(restore)] },
    { name: 'restore-end', title: 'End the restore', ...all, steps: [served(restore)] },
  ];
}
