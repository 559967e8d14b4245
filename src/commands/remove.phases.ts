import { haproxy } from '../balancer/haproxy.step.ts';
import { keepalived } from '../balancer/keepalived.step.ts';
import { kubeVipStopped } from '../balancer/kube-vip.step.ts';
import { strayBalancer } from '../balancer/take-down.step.ts';
import type { BeforeMembership } from '../cluster/members.ts';
import type { Leaving } from '../cluster/removal.ts';
import { withInventory } from '../engine/combinators.ts';
import type { Drain } from '../engine/drain.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { balancers, controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { drained, forgotten, memberRemoved, nodeDeleted } from '../kubeadm/leave-cluster.step.ts';
import { windowsClean, windowsKubeadmReset } from '../windows/clean.step.ts';
import { clean } from './reset.phases.ts';

/** Which hosts leave the cluster, and how. */
export interface RemoveOptions {
  readonly leaving: readonly Leaving[];
  readonly drain: Drain;
  readonly before: BeforeMembership;
}

/**
 * What `kbuild remove` does. It first takes out what kbuild does not reach: it drains a node that is Ready, and removes etcd member and Node object. Then it drains
 * every other host, removes its etcd member, cleans it and deletes its Node object, one host after another. Load balancers of
 * kbuild stop using a host before it leaves, and remove it from their own peers afterwards. `removalRefusals` decides which
 * hosts may leave.
 */
export function remove(inventory: Inventory, { leaving, drain, before }: RemoveOptions): readonly Phase[] {
  const gone = leaving.filter(({ host }) => host === undefined);
  const hosts = leaving.flatMap(({ host }) => (host === undefined ? [] : [host]));
  const linux = hosts.filter((host) => host.os === 'linux');
  const windows = hosts.filter((host) => host.os === 'windows');
  const names = new Set(leaving.map(({ name }) => name));
  // The inventory of the command still names the hosts that leave.
  const after: Inventory = { ...inventory, hosts: inventory.hosts.filter(({ name }) => !names.has(name)) };
  const afterwards = (step: Step): Step => withInventory(step, () => after);
  const changesBalancers = inventory.hosts.some(({ name, role }) => names.has(name) && role !== 'worker');
  const balancing = { kind: 'linux', hosts: changesBalancers ? balancers(after) : [], concurrency: 1 } as const;
  const steps = [
    ...[jobEnded, strayBalancer, drained(drain)],
    // Before the member: the API server beside it ends with it, and kube-vip would lose its lease only later.
    ...[kubeVipStopped('cluster'), memberRemoved(before)],
    ...[...clean, nodeDeleted],
  ];
  const phases: readonly Phase[] = [
    {
      name: 'forget',
      title: 'Remove hosts that are gone',
      kind: 'cluster',
      hosts: gone.length === 0 ? [] : controlPlanes(inventory).filter(({ name }) => !names.has(name)),
      steps: gone.flatMap((host) => forgotten(host, drain, before)),
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
