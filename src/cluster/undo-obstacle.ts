import { controlPlanes } from '../inventory/hosts.ts';
import { linuxFacts } from './fleet/fleet.ts';
import { standing } from './standing.ts';
import type { Seen } from './standings.ts';

/**
 * Why kbuild may not undo anything on the host yet; undefined if it may. While the API does not answer, kbuild cannot
 * know whether quorum needs the host's etcd, or whether its node is in use. It waits if another host is joined to the
 * cluster, or if a control plane was not observed.
 */
export function undoObstacle({
  inventory,
  host,
  fleet,
}: Pick<Seen, 'inventory' | 'host' | 'fleet'>): string | undefined {
  if (fleet.cluster.state !== 'down') return undefined;
  const unseen = controlPlanes(inventory).find(
    (other) => other.name !== host.name && linuxFacts(fleet, other) === undefined,
  );
  if (unseen !== undefined) return `the API does not answer, and ${unseen.name} was not observed`;
  const joined = fleet.hosts.find(
    (other) =>
      other.host.name !== host.name &&
      (other.host.role === 'control-plane' || other.host.role === 'worker') &&
      standing({ inventory, host: other.host, facts: other.facts, fleet }) === 'joined',
  );
  return joined === undefined
    ? undefined
    : `the API does not answer, and ${joined.host.name} is joined to the cluster: ${fleet.cluster.reason}`;
}
