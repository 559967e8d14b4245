import { onceForEach } from '../shell/memo.ts';
import { matchesGlob } from '../shell/text.ts';
import type { Host, Inventory, LinuxHost, Role, Taint, WindowsHost } from './inventory.ts';

const views = onceForEach((_: Inventory) => new Map<LinuxHost['runtime'], Inventory>());

/**
 * The inventory as it holds on one host: `runtime` is that of the host. What runs on a host, or is about it, takes its
 * settings from there. The same object for the same host, whatever host the given inventory held for.
 */
export function inventoryOn(inventory: Inventory, host: Host): Inventory {
  if (host.os === 'windows' || host.runtime === undefined || host.runtime === inventory.runtime) return inventory;
  const known = views(inventory);
  const view = known.get(host.runtime) ?? { ...inventory, runtime: host.runtime };
  known.set(host.runtime, view);
  return view;
}

/** Up to this number of hosts, every host is a landmark. */
const FEW = 32;
const OF_A_NETWORK = 2;
const MOST = 64;

/**
 * Hosts whose addresses every host probes, instead of every host probing every other, which costs the square of their
 * number. A small fleet: all hosts. A large one: the control planes and two hosts of each /24, and never more than 64
 * besides the control planes.
 */
export const landmarks = onceForEach(({ hosts }: Inventory): readonly Host[] => {
  if (hosts.length <= FEW) return hosts;
  const seen = new Map<string, number>();
  const others = hosts.filter(({ role, internalAddress }) => {
    if (role === 'control-plane') return false;
    const network = internalAddress.replace(/[.:][^.:]*$/, '');
    const before = seen.get(network) ?? 0;
    seen.set(network, before + 1);
    return before < OF_A_NETWORK;
  });
  const chosen = new Set(others.filter((_, index) => index % Math.ceil(others.length / MOST) === 0));
  return hosts.filter((host) => host.role === 'control-plane' || chosen.has(host));
});

const isLinux = (host: Host): host is LinuxHost => host.os === 'linux';

/** Linux hosts in the inventory's order. */
export const linuxHosts = onceForEach(({ hosts }: Inventory): readonly LinuxHost[] => hosts.filter(isLinux));

/** Windows hosts in the inventory's order. */
export const windowsHosts = (inventory: Inventory): readonly WindowsHost[] =>
  inventory.hosts.filter((host): host is WindowsHost => host.os === 'windows');

/** Linux hosts of one role in the inventory's order. */
export const withRole = (inventory: Inventory, role: Role): readonly LinuxHost[] =>
  linuxHosts(inventory).filter((host) => host.role === role);

export const controlPlanes = onceForEach((inventory: Inventory) => withRole(inventory, 'control-plane'));

export const linuxWorkers = (inventory: Inventory): readonly LinuxHost[] => withRole(inventory, 'worker');

/** Hosts of an etcd that kbuild builds beside the control planes. */
export const etcdHosts = (inventory: Inventory): readonly LinuxHost[] => withRole(inventory, 'etcd');

/** Linux hosts that become Kubernetes nodes. */
export const linuxNodes = onceForEach((inventory: Inventory) =>
  linuxHosts(inventory).filter((host) => host.role === 'control-plane' || host.role === 'worker'),
);

/** Linux hosts that run Kubernetes components: all but pure load balancers. */
export const kubernetesHosts = onceForEach((inventory: Inventory) =>
  linuxHosts(inventory).filter(({ role }) => role !== 'load-balancer'),
);

/** True if SELinux confines containers on some node. */
export const confinesContainers = (inventory: Inventory): boolean =>
  linuxNodes(inventory).some((host) => inventoryOn(inventory, host).runtime.selinux);

/**
 * Hosts on which kbuild builds haproxy: with keepalived those of role load-balancer, or else the control planes; with
 * `local` every node.
 */
export function balancers(inventory: Inventory): readonly LinuxHost[] {
  if (inventory.loadBalancer.kind === 'local') return linuxNodes(inventory);
  if (inventory.loadBalancer.kind !== 'keepalived') return [];
  const own = withRole(inventory, 'load-balancer');
  return own.length > 0 ? own : controlPlanes(inventory);
}

/** How many of these hosts may be disrupted at once, by `rollout.maxUnavailable`; at least one. */
export function atOnceOf({ rollout: { maxUnavailable } }: Pick<Inventory, 'rollout'>, hosts: readonly Host[]): number {
  const allowed = 'workers' in maxUnavailable ? maxUnavailable.workers : (hosts.length * maxUnavailable.percent) / 100;
  return Math.max(1, Math.floor(allowed));
}

/**
 * True when the name matches one of the patterns (`*` stands for any characters). Undefined selects every name; an
 * empty list selects none.
 */
export function selects(patterns: readonly string[] | undefined, name: string): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) => matchesGlob(pattern, name));
}

/** Keeps pods without a toleration for Windows off the node. Set when the node registers. */
export const WINDOWS_TAINT: Taint = { key: 'os', value: 'windows', effect: 'NoSchedule' };

/** The taints with which a Windows host registers. */
export const windowsTaints = ({ taints }: WindowsHost): readonly Taint[] => taints ?? [WINDOWS_TAINT];
