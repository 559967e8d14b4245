import { Refused } from '../errors.ts';
import type { ClusterUp } from '../facts/cluster.ts';
import type { Fleet } from '../facts/fleet.ts';
import { endpointHost } from '../topology/api-server.ts';
import type { Inventory } from '../model/inventory.ts';
import { liveCluster } from './acting.ts';
import { liveEndpoint } from './endpoint-move.ts';
import { controlPlaneNodes } from './control-plane-nodes.ts';
import type { Leaving } from './leaving.ts';
import { livingElsewhere, membersOf } from './members.ts';
import { gate } from './quorum.ts';

/** Members that are healthy at another address than their host's. It is asked again when a member leaves, after the drain. */
const membersElsewhere = (cluster: Pick<ClusterUp, 'members'>, leaving: readonly Leaving[]): readonly Refused[] =>
  leaving.flatMap((host) => membersOf(cluster, host).flatMap((member) => livingElsewhere(member, host) ?? []));

/** The leaving host whose address an endpoint is; undefined if there is none. */
function holderOf({ hosts }: Inventory, endpoint: string, leaving: readonly Leaving[]): Leaving | undefined {
  const at = endpointHost(endpoint);
  const going = new Set(leaving.map(({ name }) => name));
  // Another host may have the address of a dead host by now.
  const isKept = hosts.some((host) => !going.has(host.name) && [host.address, host.internalAddress].includes(at));
  return isKept
    ? undefined
    : leaving.find(({ internalAddress, host }) => [internalAddress, host?.address].includes(at));
}

/**
 * Why these hosts may not leave a live cluster, all reasons at once: the last control plane, quorum (each removal is
 * judged after those before it, with the arithmetic), the endpoint. Throws like `liveCluster`.
 */
export function removalRefusals(inventory: Inventory, fleet: Fleet, leaving: readonly Leaving[]): readonly Refused[] {
  const cluster = liveCluster(fleet);
  const going = new Set(leaving.map(({ name }) => name));
  const controls = controlPlaneNodes(cluster);
  const lost = controls.filter(({ name }) => going.has(name));
  const found: Refused[] = [];
  if (controls.length > 0 && lost.length === controls.length)
    found.push(
      new Refused(
        lost.map(({ name }) => name).join(', '),
        `${controls.length === 1 ? 'it is the last control plane' : 'they are all control planes'} of ${inventory.name}`,
        'join another control plane first',
      ),
    );
  // The inventory may name an endpoint to which the cluster is yet to be led.
  for (const endpoint of new Set([inventory.endpoint, liveEndpoint(cluster)])) {
    const holder = holderOf(inventory, endpoint, leaving);
    if (holder !== undefined && lost.some(({ name }) => name === holder.name))
      found.push(
        new Refused(
          holder.name,
          `the cluster's endpoint ${endpoint} is its address`,
          'lead the cluster to another endpoint first: `kbuild move-endpoint HOST:PORT`',
        ),
      );
  }

  for (const { name, host, internalAddress } of leaving) {
    const node = cluster.nodes.find((candidate) => candidate.name === name && candidate.ready);
    if (host !== undefined || node === undefined || ['', internalAddress].includes(node.internalAddress)) continue;
    found.push(
      new Refused(
        name,
        `its node is Ready at ${node.internalAddress}, and the inventory says ${internalAddress}: it is not gone`,
        `correct the address of ${name} in the inventory`,
      ),
    );
  }

  found.push(...membersElsewhere(cluster, leaving));
  let { members } = cluster;
  for (const host of leaving) {
    for (const { id } of membersOf({ members }, host)) {
      const { allowed, why } = gate({ members, alarms: cluster.alarms }, { kind: 'remove', id });
      if (allowed) members = members.filter((member) => member.id !== id);
      else
        found.push(
          new Refused(
            host.name,
            why,
            cluster.alarms.length > 0
              ? 'heal it first (docs/operations.md), then clear it with `etcdctl alarm disarm`'
              : 'bring the members that are down back, or remove those that are gone for good first',
          ),
        );
    }
  }
  return found;
}
