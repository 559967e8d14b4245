import { onceForEach } from '../shell/once-for-each.ts';
import { matchesGlob } from '../shell/text.ts';
import { inventoryOn } from '../model/inventory-on.ts';
import type { Host, Inventory, LinuxHost, Role, WindowsHost } from '../model/inventory.ts';

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

/** Hosts on which kbuild builds haproxy and keepalived: those of role load-balancer, or else the control planes. */
export function balancers(inventory: Inventory): readonly LinuxHost[] {
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
 * True when the name matches one of the patterns (`*` stands for any characters). Undefined selects every name; an empty
 * list selects none.
 */
export function selects(patterns: readonly string[] | undefined, name: string): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) => matchesGlob(pattern, name));
}
