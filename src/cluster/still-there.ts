import type { Fleet } from './fleet/fleet.ts';

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
