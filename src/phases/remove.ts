import type { Leaving } from '../cluster/leaving.ts';
import type { BeforeMembership } from '../cluster/members.ts';
import type { Phase, Step } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { balancers, controlPlanes } from '../topology/select.ts';
import { jobEnded } from '../kubeadm/job-ended.ts';
import { kubeadmReset } from '../kubeadm/reset/kubeadm-reset.ts';
import { drained, forgotten, memberRemoved, nodeDeleted, type Drain } from '../kubeadm/reset/leave-cluster.ts';
import { haproxy } from '../lb/haproxy.ts';
import { keepalived } from '../lb/keepalived.ts';
import { strayBalancer } from '../lb/removed.ts';
import { windowsClean, windowsKubeadmReset } from '../windows/clean.ts';
import { clean } from './clean.ts';

/** How hosts leave. */
export interface RemoveOptions {
  readonly leaving: readonly Leaving[];
  readonly drain: Drain;
  readonly before: BeforeMembership;
}

/**
 * What `kbuild remove` does. Who is gone is only forgotten, first. Every other host is drained, taken out of etcd, cleaned and
 * forgotten, one after another. Load balancers that kbuild built send nobody there beforehand, and no longer count those that
 * left as one of themselves afterwards; one at a time. Who may leave at all is `removalRefusals`' business.
 */
export function remove(inventory: Inventory, { leaving, drain, before }: RemoveOptions): readonly Phase[] {
  const gone = leaving.filter(({ host }) => host === undefined);
  const hosts = leaving.flatMap(({ host }) => (host === undefined ? [] : [host]));
  const linux = hosts.filter((host) => host.os === 'linux');
  const windows = hosts.filter((host) => host.os === 'windows');
  const names = new Set(leaving.map(({ name }) => name));
  // What it will be: the inventory still names those who leave.
  const after: Inventory = { ...inventory, hosts: inventory.hosts.filter(({ name }) => !names.has(name)) };
  const afterwards = (step: Step): Step => ({
    ...step,
    diff: (target) => step.diff({ ...target, inventory: after }),
  });
  const matters = inventory.hosts.some(({ name, role }) => names.has(name) && role !== 'worker');
  const balancing = { kind: 'linux', hosts: matters ? balancers(after) : [], concurrency: 1 } as const;
  const steps: readonly Step[] = [
    jobEnded,
    strayBalancer,
    drained(drain),
    memberRemoved(before),
    kubeadmReset,
    ...clean,
    nodeDeleted,
  ];
  const phases: readonly Phase[] = [
    {
      name: 'forget',
      title: 'Remove hosts that are gone',
      kind: 'cluster',
      hosts: gone.length === 0 ? [] : controlPlanes(inventory).filter(({ name }) => !names.has(name)),
      steps: gone.flatMap((one) => forgotten(one, before)),
      concurrency: 1,
    },
    {
      name: 'remove-windows',
      title: 'Remove Windows hosts',
      kind: 'windows',
      hosts: windows,
      steps: [jobEnded, drained(drain), windowsKubeadmReset, ...windowsClean, nodeDeleted],
      concurrency: 1,
    },
    {
      name: 'backends',
      title: 'Remove leaving hosts from load balancers',
      ...balancing,
      steps: haproxy.map(afterwards),
    },
    { name: 'remove', title: 'Remove hosts', kind: 'linux', hosts: linux, steps, concurrency: 1 },
    { name: 'load-balancer', title: 'Configure load balancers', ...balancing, steps: keepalived.map(afterwards) },
  ];
  return phases.filter((phase) => phase.hosts.length > 0);
}
