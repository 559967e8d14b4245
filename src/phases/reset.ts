import type { Phase, Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { linuxHosts, selects } from '../inventory/select.ts';
import { jobEnded } from '../kubeadm/job-ended.ts';
import { noCniRemains, noHostsBlock, noKubeChains, noOwnFiles, packagesReleased } from '../kubeadm/reset/clean-host.ts';
import { kubeadmReset } from '../kubeadm/reset/kubeadm-reset.ts';
import { noLoadBalancer } from '../lb/removed.ts';
import { drained, nodeDeleted, type Drain } from '../kubeadm/reset/leave-cluster.ts';

/** What is torn down. */
export interface ResetOptions {
  /** Patterns of host names; undefined: the whole cluster, which then is not asked to move anything first. */
  readonly hosts?: readonly string[] | undefined;
  readonly drain: Drain;
}

const clean: readonly Step[] = [noLoadBalancer, noCniRemains, noKubeChains, noOwnFiles, noHostsBlock, packagesReleased];

/**
 * What `kbuild reset` does. Of single hosts: each is drained, cleaned and forgotten. Of the whole cluster: workers first,
 * control planes after them, one by one. Who may be reset at all is `resetRefusals`' business.
 */
export function reset(inventory: Inventory, { hosts, drain }: ResetOptions): readonly Phase[] {
  const linux = { kind: 'linux' } as const;
  const all = linuxHosts(inventory).filter(({ name }) => selects(hosts, name));
  const controls = all.filter(({ role }) => role === 'control-plane');
  const others = all.filter(({ role }) => role !== 'control-plane');
  const whole = hosts === undefined;
  const steps = whole
    ? [jobEnded, kubeadmReset, ...clean]
    : [jobEnded, drained(drain), kubeadmReset, ...clean, nodeDeleted];
  const phases: readonly Phase[] = [
    { name: 'reset-workers', title: 'Clean workers', ...linux, hosts: others, steps },
    { name: 'reset-control-planes', title: 'Clean control planes', ...linux, hosts: controls, steps, concurrency: 1 },
  ];
  return phases.filter((phase) => phase.hosts.length > 0);
}
