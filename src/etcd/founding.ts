import { hasOwnMarker, standing } from '../cluster/standing.ts';
import type { Target } from '../engine/step.ts';
import { linuxFacts, type Fleet } from '../facts/fleet.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { etcdHosts } from '../topology/select.ts';

/** True for a host that holds nothing of etcd, or only what an unfinished founding of ours began. */
function isBlank(inventory: Inventory, fleet: Fleet, host: LinuxHost): boolean {
  const facts = linuxFacts(fleet, host);
  if (facts === undefined) return false;
  if (facts.kubernetesTraces.size === 0) return true;
  if (hasOwnMarker(inventory, facts)) return typeof facts.marker === 'object' && facts.marker.action === 'init';
  return facts.etcdToken === 'absent' && !facts.kubernetesTraces.has(`${facts.etcdFolder}/member`);
}

/**
 * True while etcd is yet to be founded by all of its hosts together: none of them holds data of a finished one. Later, one
 * host alone must never start as if it were new.
 */
export const isToBeFounded = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): boolean =>
  etcdHosts(inventory).every((host) => isBlank(inventory, fleet, host));

/** Hosts of role etcd that still hold what another step of theirs takes back. */
export const uncleanHosts = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): readonly LinuxHost[] =>
  etcdHosts(inventory).filter((host) => {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined || isBlank(inventory, fleet, host)) return false;
    return standing({ inventory, host, facts, fleet }) === 'partial';
  });
