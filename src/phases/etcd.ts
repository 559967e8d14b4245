import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase } from '../engine/step.ts';
import { etcdFounded } from '../etcd/found.ts';
import { etcdKubelet } from '../etcd/kubelet.ts';
import { etcdMembers } from '../etcd/members.ts';
import { etcdCertificateSteps, etcdConnectionSteps } from '../etcd/steps.ts';
import { undoHalfFinishedEtcd } from '../etcd/undo.ts';
import { undoSteps } from '../kubeadm/steps.ts';
import type { Inventory } from '../model/inventory.ts';
import { controlPlanes, etcdHosts } from '../topology/select.ts';

/** Builds etcd on hosts of role etcd, if the inventory has them, and connects control planes to an etcd outside themselves. */
export function etcdPhases(inventory: Inventory, before: BeforeMembership, keep: KeepData): readonly Phase[] {
  return [
    ...builtEtcdPhases(inventory, before, keep),
    {
      name: 'reach-etcd',
      title: 'Connect to the external etcd',
      kind: 'linux',
      hosts: inventory.etcd.topology === 'stacked' ? [] : controlPlanes(inventory),
      // Undo comes first because it deletes the client certificates.
      steps: [...undoSteps(before, keep), ...etcdConnectionSteps],
      concurrency: 1,
      // A control plane connects only after all members that kbuild builds serve.
      ...(inventory.etcd.topology === 'built' ? {} : { overlaps: true }),
    },
  ];
}

/**
 * Builds etcd before the cluster has an API. The hosts of role etcd start a new etcd together. A host that is added later joins
 * it. Certificates and members change on one host at a time.
 */
function builtEtcdPhases(inventory: Inventory, before: BeforeMembership, keep: KeepData): readonly Phase[] {
  const hosts = etcdHosts(inventory);
  if (hosts.length === 0) return [];
  const all = { kind: 'linux', hosts, overlaps: true } as const;
  return [
    {
      name: 'etcd-undo',
      title: 'Undo half-finished etcd members',
      ...all,
      steps: undoHalfFinishedEtcd(before, keep),
      concurrency: 1,
    },
    { name: 'etcd-kubelets', title: 'Start the kubelets of etcd hosts', ...all, steps: etcdKubelet },
    {
      name: 'etcd-certificates',
      title: 'Create etcd certificates',
      ...all,
      steps: etcdCertificateSteps,
      concurrency: 1,
    },
    { name: 'etcd-start', title: 'Install etcd', ...all, steps: etcdFounded },
    {
      name: 'etcd-members',
      title: 'Join etcd members',
      kind: 'linux',
      hosts,
      steps: etcdMembers(before),
      concurrency: 1,
    },
  ];
}
