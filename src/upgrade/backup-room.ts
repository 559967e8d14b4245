import { apiServerVersions } from '../cluster/api-versions.ts';
import { sizeText } from '../cluster/etcd-space.ts';
import { isMemberOf } from '../cluster/members.ts';
import { Refused } from '../errors.ts';
import type { ClusterUp } from '../facts/cluster.ts';
import { observedLinux, type Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';

/** etcd's log and snapshots beside its database: at most five segments of 64 MiB each (`--max-wals`), and what is being written. */
const LOG_BYTES = 512 * 1024 ** 2;

/**
 * Refuses control planes on which kubeadm has no room for its copy of etcd's data: `kubeadm upgrade` makes it in /etc/kubernetes/tmp
 * before it exchanges etcd (cmd/kubeadm/app/phases/upgrade/staticpods.go), and a file system that is full there stops more than kubeadm.
 */
export function backupRoom(
  { kubernetes: { version } }: Inventory,
  fleet: Fleet,
  cluster: ClusterUp,
): readonly Refused[] {
  const versions = apiServerVersions(cluster);
  return observedLinux(fleet).flatMap(({ host, facts }) => {
    const member = host.role === 'control-plane' ? cluster.members.find(isMemberOf(host)) : undefined;
    // Only the disks of these hosts matter: one of a worker that is not known stops no upgrade.
    if (member === undefined || versions.get(host.name) === version) return [];
    const volume = facts.storage.find(({ path }) => path === '/etc');
    const needed = member.dbSize + LOG_BYTES;
    if (volume === undefined || volume.freeBytes >= needed) return [];
    return [
      new Refused(
        host.name,
        `kubeadm copies etcd's data to /etc/kubernetes/tmp before it exchanges etcd, and ${volume.mountPoint} has ${sizeText(volume.freeBytes)} free, not ${sizeText(needed)}`,
        'make room there',
      ),
    ];
  });
}
