import type { Leaving } from '../cluster/leaving.ts';
import type { BeforeMembership } from '../cluster/members.ts';
import type { Phase, Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { controlPlanes } from '../inventory/select.ts';
import { jobEnded } from '../kubeadm/job-ended.ts';
import { kubeadmReset } from '../kubeadm/reset/kubeadm-reset.ts';
import { drained, forgotten, memberRemoved, nodeDeleted, type Drain } from '../kubeadm/reset/leave-cluster.ts';
import { clean } from './clean.ts';

/** How hosts leave. */
export interface RemoveOptions {
  readonly leaving: readonly Leaving[];
  readonly drain: Drain;
  readonly before: BeforeMembership;
}

/**
 * What `kbuild remove` does. Who is gone is only forgotten, first. Every other host is drained, taken out of etcd, cleaned and
 * forgotten, one after another. Who may leave at all is `removalRefusals`' business.
 */
export function remove(inventory: Inventory, { leaving, drain, before }: RemoveOptions): readonly Phase[] {
  const gone = leaving.filter(({ host }) => host === undefined);
  const hosts = leaving.flatMap(({ host }) => (host === undefined ? [] : [host]));
  const names = new Set(leaving.map(({ name }) => name));
  const steps: readonly Step[] = [jobEnded, drained(drain), memberRemoved(before), kubeadmReset, ...clean, nodeDeleted];
  const phases: readonly Phase[] = [
    {
      name: 'forget',
      title: 'Forget hosts that are gone',
      kind: 'cluster',
      hosts: gone.length === 0 ? [] : controlPlanes(inventory).filter(({ name }) => !names.has(name)),
      steps: gone.flatMap((one) => forgotten(one, before)),
      concurrency: 1,
    },
    { name: 'remove', title: 'Remove hosts', kind: 'linux', hosts, steps, concurrency: 1 },
  ];
  return phases.filter((phase) => phase.hosts.length > 0);
}
