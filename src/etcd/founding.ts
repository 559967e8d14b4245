import { hasOwnMarker, standing } from '../cluster/standing.ts';
import type { Target } from '../engine/step.ts';
import { linuxFacts, type Fleet } from '../facts/fleet.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { etcdHosts } from '../topology/select.ts';

/** True for a host without etcd's data, or with the leftovers of an interrupted first start of etcd by kbuild. */
function isBlank(inventory: Inventory, fleet: Fleet, host: LinuxHost): boolean {
  const facts = linuxFacts(fleet, host);
  if (facts === undefined) return false;
  if (facts.kubernetesTraces.size === 0) return true;
  if (hasOwnMarker(inventory, facts)) return typeof facts.marker === 'object' && facts.marker.action === 'init';
  return facts.etcdToken === 'absent' && !facts.kubernetesTraces.has(`${facts.etcdFolder}/member`);
}

/**
 * True if all hosts of role etcd must still start a new etcd together: none of them has data of one that was finished. A host
 * that starts a new etcd alone would split the cluster's data.
 */
export const isToBeFounded = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): boolean =>
  etcdHosts(inventory).every((host) => isBlank(inventory, fleet, host));

/** Hosts of role etcd with a half-finished action that another step undoes. */
export const uncleanHosts = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): readonly LinuxHost[] =>
  etcdHosts(inventory).filter((host) => {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined || isBlank(inventory, fleet, host)) return false;
    return standing({ inventory, host, facts, fleet }) === 'partial';
  });
