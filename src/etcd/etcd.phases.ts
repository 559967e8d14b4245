import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase, Step } from '../engine/step.ts';
import { controlPlanes, etcdHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { undoSteps } from '../kubeadm/kubeadm.phases.ts';
import { etcdAuthority } from './authority.step.ts';
import { etcdCertificates } from './certificates.step.ts';
import { etcdClientCertificate } from './client-certificate.step.ts';
import { externalEtcd } from './external.step.ts';
import { etcdFounded } from './found.step.ts';
import { etcdKubelet } from './kubelet.step.ts';
import { etcdMembers } from './members.step.ts';
import { undoHalfFinishedEtcd } from './undo.step.ts';

/** Give a host of role etcd the CA of etcd and its own certificates. */
export const etcdCertificateSteps: readonly Step[] = [etcdAuthority, etcdCertificates];

/** Connect a control plane to an etcd that does not run on it. */
export const etcdConnectionSteps: readonly Step[] = [etcdClientCertificate, ...externalEtcd];

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
