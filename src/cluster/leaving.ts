import { UsageError } from '../errors.ts';
import type { MemberView } from '../facts/cluster.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import { nearest } from '../inventory/nearest.ts';
import { liveCluster } from './acting.ts';
import type { MemberOf } from './members.ts';

/** What leaves the cluster: a host of the inventory, or a node or etcd member that the inventory no longer names. */
export interface Leaving extends MemberOf {
  /** The host, where the inventory names it and it answers: then it is cleaned too. */
  readonly host?: Host;
}

const addressOf = (member: MemberView | undefined): string | undefined =>
  member === undefined ? undefined : new URL(member.peerUrl).hostname;

/**
 * Whom these names mean, those that are gone first: without them there is more room for the others.
 * @throws UsageError for a name that is neither a host of the inventory nor a node; like `liveCluster`.
 */
export function leavingOf(inventory: Inventory, fleet: Fleet, names: readonly string[]): readonly Leaving[] {
  const { nodes, members } = liveCluster(fleet);
  const found = [...new Set(names)].map((name): Leaving => {
    const host = inventory.hosts.find((one) => one.name === name);
    const node = nodes.find((one) => one.name === name);
    if (host !== undefined && fleet.hosts.some((observed) => observed.host.name === name))
      return { name, internalAddress: host.internalAddress, role: host.role, host };
    const member = members.find((one) => one.name === name);
    const internalAddress = host?.internalAddress ?? node?.internalAddress ?? addressOf(member);
    const role = host?.role ?? node?.role ?? 'control-plane';
    if (internalAddress !== undefined) return { name, internalAddress, role };
    const meant = nearest(name, [
      ...nodes.map((one) => one.name),
      ...members.map((one) => one.name),
      ...inventory.hosts.map((one) => one.name),
    ]);
    throw new UsageError(
      `"${name}" is neither a host of the inventory nor a node or etcd member of ${inventory.name}`,
      {
        remedy: meant === undefined ? undefined : `did you mean "${meant}"?`,
      },
    );
  });
  return [...found.filter(({ host }) => host === undefined), ...found.filter(({ host }) => host !== undefined)];
}
