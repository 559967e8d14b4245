import { haproxy } from '../balancer/haproxy.step.ts';
import { keepalived } from '../balancer/keepalived.step.ts';
import { kubeVipStopped, noVirtualAddress } from '../balancer/kube-vip.step.ts';
import { membersBalancer, strayBalancer } from '../balancer/take-down.step.ts';
import type { BeforeMembership } from '../cluster/members.ts';
import type { Leaving } from '../cluster/removal.ts';
import { withInventory } from '../engine/combinators.ts';
import type { Drain } from '../engine/drain.ts';
import { cluster, ifAny, IN_TURN, linux, windows } from '../engine/phases.ts';
import type { Phase, Step } from '../engine/step.ts';
import { firewallClosed } from '../host/firewall.step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { noTimeServers } from '../host/time.step.ts';
import { noTrustedCas } from '../host/trusted-cas.step.ts';
import { balancers, controlPlanes, linuxHosts, selects, windowsHosts } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import {
  kubeadmReset,
  noCniRemains,
  noHostsBlock,
  noKubeChains,
  noOwnFiles,
  noPrograms,
  noServiceAddresses,
  packagesReleased,
} from '../kubeadm/clean-host.step.ts';
import { drained, forgotten, memberRemoved, nodeDeleted } from '../kubeadm/leave-cluster.step.ts';
import { runtimeRetired } from '../runtime/change.step.ts';
import { noSharedSettings } from '../runtime/settings-file.step.ts';
import { windowsClean, windowsKubeadmReset } from '../windows/clean.step.ts';

/** Brings a Linux host back to its state before kbuild. kube-vip must have been stopped. */
export const clean: readonly Step[] = [
  kubeadmReset,
  noVirtualAddress,
  noServiceAddresses,
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
interface ResetOptions {
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

/** Which hosts leave the cluster, and how. */
interface RemoveOptions {
  readonly leaving: readonly Leaving[];
  readonly drain: Drain;
  readonly before: BeforeMembership;
}

/**
 * What `kbuild remove` does. It first takes out what kbuild does not reach: it drains a node that is Ready, and removes
 * etcd member and Node object. Then it drains every other host, removes its etcd member, cleans it and deletes its Node
 * object, one host after another. Load balancers of kbuild stop using a host before it leaves, and remove it from their
 * own peers afterwards. `removalRefusals` decides which hosts may leave.
 */
export function remove(inventory: Inventory, { leaving, drain, before }: RemoveOptions): readonly Phase[] {
  const gone = leaving.filter(({ host }) => host === undefined);
  const hosts = leaving.flatMap(({ host }) => (host === undefined ? [] : [host]));
  const onLinux = hosts.filter((host) => host.os === 'linux');
  const onWindows = hosts.filter((host) => host.os === 'windows');
  const names = new Set(leaving.map(({ name }) => name));
  // The inventory of the command still names the hosts that leave.
  const after: Inventory = { ...inventory, hosts: inventory.hosts.filter(({ name }) => !names.has(name)) };
  const afterwards = (step: Step): Step => withInventory(step, () => after);
  const changesBalancers = inventory.hosts.some(({ name, role }) => names.has(name) && role !== 'worker');
  const balancing = changesBalancers ? balancers(after) : [];
  // Each node has a balancer for itself alone.
  const inTurn = inventory.loadBalancer.kind === 'local' ? {} : IN_TURN;
  const staying = gone.length === 0 ? [] : controlPlanes(inventory).filter(({ name }) => !names.has(name));
  const steps = [
    ...[jobEnded, strayBalancer, drained(drain)],
    // Before the member: the API server beside it ends with it, and kube-vip would lose its lease only later.
    ...[kubeVipStopped('cluster'), memberRemoved(before)],
    ...[...clean, nodeDeleted],
  ];
  const cleanWindows = [jobEnded, drained(drain), windowsKubeadmReset, ...windowsClean, nodeDeleted];
  const forget = gone.flatMap((host) => forgotten(host, drain, before));
  return ifAny(
    cluster('forget', 'Remove hosts that are gone', staying, forget, IN_TURN),
    windows('remove-windows', 'Remove Windows hosts', onWindows, cleanWindows, IN_TURN),
    linux('backends', 'Remove leaving hosts from load balancers', balancing, haproxy.map(afterwards), inTurn),
    linux('remove', 'Remove hosts', onLinux, steps, IN_TURN),
    linux('load-balancer', 'Configure load balancers', balancing, keepalived.map(afterwards), inTurn),
  );
}
