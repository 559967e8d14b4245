import { Refused } from '../errors.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { type Fleet, linuxFacts } from './fleet/fleet.ts';
import type { LinuxFacts } from './fleet/linux.ts';
import { membersOf } from './members.ts';
import { isNodeGone } from './nodes.ts';

/**
 * True for a control plane that was removed from the cluster while it was off (`remove --dead`) and boots again. Its
 * etcd can never join again, and its load balancer still claims the virtual address. Throws `FactError` when a fact
 * that it needs is unknown.
 */
export function hasReturned(inventory: Inventory, fleet: Fleet, host: LinuxHost, facts: LinuxFacts): boolean {
  const { cluster } = fleet;
  if (host.role !== 'control-plane' || inventory.etcd.topology !== 'stacked' || cluster.state !== 'up') return false;
  return isNodeGone({ inventory, host, facts, fleet }) && membersOf(cluster, host).length === 0;
}

/** What `reset` stops first on such a host: it may hold the virtual address beside another one. */
const STOPPED_FIRST: Readonly<Record<Inventory['loadBalancer']['kind'], string>> = {
  keepalived: ', keepalived and haproxy first',
  'kube-vip': ', kube-vip first',
  external: '',
  none: '',
};

/** Refuses control planes that came back after their removal: `up` neither deletes their data nor can use it. */
export const returnedHosts = (inventory: Inventory, fleet: Fleet): readonly Refused<'host-returned'>[] =>
  controlPlanes(inventory).flatMap((host) => {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined || !hasReturned(inventory, fleet, host, facts)) return [];
    return [
      new Refused(
        'host-returned',
        host.name,
        'it was removed from the cluster and came back with what it had: its node and its etcd member are gone',
        `\`kbuild reset --hosts ${host.name}\` cleans it${STOPPED_FIRST[inventory.loadBalancer.kind]}; then \`kbuild up\` joins it anew`,
      ),
    ];
  });
