import { kubeVipStopped, noVirtualAddress } from '../balancer/kube-vip.step.ts';
import { membersBalancer, strayBalancer } from '../balancer/take-down.step.ts';
import { ifAny, IN_TURN, linux, windows } from '../engine/phases.ts';
import type { Phase, Step } from '../engine/step.ts';
import { firewallClosed } from '../host/firewall.step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { noTimeServers } from '../host/time.step.ts';
import { noTrustedCas } from '../host/trusted-cas.step.ts';
import { linuxHosts, selects, windowsHosts } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import {
  kubeadmReset,
  noCniRemains,
  noHostsBlock,
  noKubeChains,
  noOwnFiles,
  noPrograms,
  packagesReleased,
} from '../kubeadm/clean-host.step.ts';
import { runtimeRetired } from '../runtime/cleanup.step.ts';
import { noSharedSettings } from '../runtime/settings-file.step.ts';
import { windowsClean, windowsKubeadmReset } from '../windows/clean.step.ts';

/** Brings a Linux host back to its state before kbuild. kube-vip must have been stopped. */
export const clean: readonly Step[] = [
  kubeadmReset,
  noVirtualAddress,
  membersBalancer,
  noCniRemains,
  noKubeChains,
  firewallClosed,
  // A change of runtime that was cut off left two.
  runtimeRetired,
  // Needs kbuild's record of the keys that it gave to the package manager.
  packagesReleased,
  noPrograms,
  noTrustedCas,
  noSharedSettings,
  noTimeServers,
  noOwnFiles,
  noHostsBlock,
];

/** Which hosts `kbuild reset` cleans. */
export interface ResetOptions {
  /** Patterns of host names; undefined: the whole cluster. */
  readonly hosts?: readonly string[] | undefined;
  /** Names of hosts that reset leaves alone, because they leave a live cluster (`remove`). */
  readonly except?: ReadonlySet<string>;
}

/**
 * What `kbuild reset` does to hosts outside a live cluster, or to all hosts: it cleans workers first, then control
 * planes one by one, then hosts of role etcd. It does not drain. `resetRefusals` decides which hosts it may clean.
 */
export function reset(inventory: Inventory, { hosts, except = new Set() }: ResetOptions): readonly Phase[] {
  const isSelected = ({ name }: Host): boolean => selects(hosts, name) && !except.has(name);
  const all = linuxHosts(inventory).filter(isSelected);
  const controls = all.filter(({ role }) => role === 'control-plane');
  const members = all.filter(({ role }) => role === 'etcd');
  const others = all.filter(({ role }) => role !== 'control-plane' && role !== 'etcd');
  const steps = [jobEnded, strayBalancer, kubeVipStopped('host'), ...clean];
  const cleanWindows = [jobEnded, windowsKubeadmReset, ...windowsClean];
  return ifAny(
    windows('reset-windows', 'Clean Windows workers', windowsHosts(inventory).filter(isSelected), cleanWindows),
    linux('reset-workers', 'Clean workers', others, steps),
    linux('reset-control-planes', 'Clean control planes', controls, steps, IN_TURN),
    linux('reset-etcd', 'Clean etcd hosts', members, steps),
  );
}
