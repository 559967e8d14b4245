import { UsageError } from '../errors.ts';
import type { MemberView } from '../etcd/view.facts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { nearest } from '../shell/text.ts';
import type { Fleet } from './fleet/fleet.ts';
import { liveCluster } from './live.ts';
import type { MemberOf } from './members.ts';

/** What leaves the cluster: a host of the inventory, or a node or etcd member that the inventory does not contain. */
export interface Leaving extends MemberOf {
  /** The host, if the inventory contains it and it answers: then kbuild cleans it too. */
  readonly host?: Host;
}

const addressOf = (member: MemberView | undefined): string | undefined =>
  member === undefined ? undefined : new URL(member.peerUrl).hostname.replace(/^\[|\]$/g, '');

/**
 * The hosts, nodes and members with these names. Dead ones come first: after their removal more members may leave.
 * @throws UsageError for a name that is neither a host of the inventory nor a node; like `liveCluster`.
 */
export function leavingOf(inventory: Inventory, fleet: Fleet, names: readonly string[]): readonly Leaving[] {
  const { nodes, members } = liveCluster(fleet);
  const found = [...new Set(names)].map((name): Leaving => {
    const host = inventory.hosts.find((candidate) => candidate.name === name);
    const node = nodes.find((candidate) => candidate.name === name);
    if (host !== undefined && fleet.hosts.some((observed) => observed.host.name === name))
      return { name, internalAddress: host.internalAddress, role: host.role, host };
    const member = members.find((candidate) => candidate.name === name);
    const internalAddress = host?.internalAddress ?? node?.internalAddress ?? addressOf(member);
    const role = host?.role ?? node?.role ?? 'control-plane';
    if (internalAddress !== undefined) return { name, internalAddress, role };
    const suggestion = nearest(name, [
      ...nodes.map((other) => other.name),
      ...members.map((member) => member.name),
      ...inventory.hosts.map((other) => other.name),
    ]);
    throw new UsageError(
      `"${name}" is neither a host of the inventory nor a node or etcd member of ${inventory.name}`,
      {
        remedy: suggestion === undefined ? undefined : `did you mean "${suggestion}"?`,
      },
    );
  });
  return [...found.filter(({ host }) => host === undefined), ...found.filter(({ host }) => host !== undefined)];
}

/** A host that is said to be gone, and what of it the cluster still sees. */
export interface StillThere {
  readonly name: string;
  readonly why: string;
  /** `maybe`: its node stays Ready for a while after its kubelet has ended. */
  readonly is: 'surely' | 'maybe';
}

/**
 * Which of these hosts, nodes or members are not gone: a member of etcd answers, or the node is Ready.
 * @throws FactError if there are names, and the members of etcd are unknown
 */
export function stillThere({ cluster }: Fleet, names: readonly string[]): readonly StillThere[] {
  // A reset of hosts whose runtime hangs names none: there the members are unknown.
  if (names.length === 0) return [];
  const nodes = cluster.state === 'up' ? cluster.nodes : [];
  const members = [
    ...(cluster.state === 'up' ? cluster.members : []),
    ...(cluster.etcd?.state === 'up' ? cluster.etcd.members : []),
  ];
  return names.flatMap((name): readonly StillThere[] => {
    if (members.some((member) => member.name === name && member.healthy))
      return [{ name, why: `the etcd member of ${name} is healthy`, is: 'surely' }];
    return nodes.some((node) => node.name === name && node.ready)
      ? [{ name, why: `node ${name} is Ready`, is: 'maybe' }]
      : [];
  });
}
