import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase } from '../engine/step.ts';
import { etcdAuthority } from '../etcd/authority.ts';
import { etcdCertificates } from '../etcd/certificates.ts';
import { etcdFounded } from '../etcd/found.ts';
import { etcdKubelet } from '../etcd/kubelet.ts';
import { etcdMembers } from '../etcd/members.ts';
import { undoHalfFinishedEtcd } from '../etcd/undo.ts';
import type { Inventory } from '../model/inventory.ts';
import { etcdHosts } from '../topology/select.ts';

/**
 * The etcd that kbuild builds on the hosts of role etcd, before there is an API: founded by all of them together, or each
 * new one joins. Certificates and members change on one host at a time.
 */
export function etcdPhases(inventory: Inventory, before: BeforeMembership, keep: KeepData): readonly Phase[] {
  const hosts = etcdHosts(inventory);
  if (hosts.length === 0) return [];
  const each = { kind: 'linux', hosts, concurrency: 1 } as const;
  return [
    {
      name: 'etcd-undo',
      title: 'Undo half-finished etcd members',
      ...each,
      steps: undoHalfFinishedEtcd(before, keep),
      overlaps: true,
    },
    {
      name: 'etcd-kubelets',
      title: 'Start the kubelets of etcd hosts',
      kind: 'linux',
      hosts,
      steps: etcdKubelet,
      overlaps: true,
    },
    {
      name: 'etcd-certificates',
      title: 'Create etcd certificates',
      ...each,
      steps: [etcdAuthority, etcdCertificates],
      overlaps: true,
    },
    { name: 'etcd-start', title: 'Install etcd', kind: 'linux', hosts, steps: etcdFounded, overlaps: true },
    { name: 'etcd-members', title: 'Join etcd members', ...each, steps: etcdMembers(before) },
  ];
}
