import type { Phase } from '../engine/step.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import { linuxHosts, selects, windowsHosts } from '../topology/select.ts';
import { jobEnded } from '../kubeadm/job-ended.ts';
import { kubeadmReset } from '../kubeadm/reset/kubeadm-reset.ts';
import { strayBalancer } from '../lb/removed.ts';
import { windowsClean, windowsKubeadmReset } from '../windows/clean.ts';
import { clean } from './clean.ts';

/** What is torn down. */
export interface ResetOptions {
  /** Patterns of host names; undefined: the whole cluster. */
  readonly hosts?: readonly string[] | undefined;
  /** Hosts that are not touched here, because they leave a live cluster (`remove`). */
  readonly except?: ReadonlySet<string>;
}

/**
 * What `kbuild reset` does to hosts that are no members of a live cluster, or to all of them: workers first, control planes
 * after them, one by one, and etcd beside them last. Nothing is moved away before. Who may be reset at all is `resetRefusals`' business.
 */
export function reset(inventory: Inventory, { hosts, except = new Set() }: ResetOptions): readonly Phase[] {
  const linux = { kind: 'linux' } as const;
  const isMeant = ({ name }: Host): boolean => selects(hosts, name) && !except.has(name);
  const all = linuxHosts(inventory).filter(isMeant);
  const controls = all.filter(({ role }) => role === 'control-plane');
  const members = all.filter(({ role }) => role === 'etcd');
  const others = all.filter(({ role }) => role !== 'control-plane' && role !== 'etcd');
  const steps = [jobEnded, strayBalancer, kubeadmReset, ...clean];
  const phases: readonly Phase[] = [
    {
      name: 'reset-windows',
      title: 'Clean Windows workers',
      kind: 'windows',
      hosts: windowsHosts(inventory).filter(isMeant),
      steps: [jobEnded, windowsKubeadmReset, ...windowsClean],
    },
    { name: 'reset-workers', title: 'Clean workers', ...linux, hosts: others, steps },
    { name: 'reset-control-planes', title: 'Clean control planes', ...linux, hosts: controls, steps, concurrency: 1 },
    { name: 'reset-etcd', title: 'Clean etcd hosts', ...linux, hosts: members, steps },
  ];
  return phases.filter((phase) => phase.hosts.length > 0);
}
