import { isUndoable } from '../facts/marker.ts';
import { isMemberOf } from './members.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { Seen, Standing } from './seen.ts';

interface SeenMember extends Omit<Seen, 'facts'> {
  readonly facts: Pick<LinuxFacts, 'marker' | 'etcdToken' | 'etcdFolder' | 'kubernetesTraces'>;
}

/**
 * Where a host of role etcd stands. Its manifest tells by etcd's token for which cluster it was made; that it votes is
 * etcd's own word, and while etcd does not answer, what is complete counts as joined.
 */
export function etcdStanding({ inventory, host, facts, fleet }: SeenMember): Standing {
  const { marker, etcdToken, etcdFolder, kubernetesTraces } = facts;
  if (etcdToken !== 'absent' && etcdToken !== inventory.name) return 'foreign';
  const isMarked = isUndoable(marker) && marker.cluster === inventory.name;
  if (etcdToken === 'absent') return isMarked ? 'partial' : 'foreign';
  if (isMarked) return 'partial';
  const { etcd } = fleet.cluster;
  if (etcd?.state !== 'up') return 'joined';
  const isVoter = etcd.members.some((member) => isMemberOf(host)(member) && member.name !== '' && !member.learner);
  return isVoter && kubernetesTraces.has(`${etcdFolder}/member`) ? 'joined' : 'partial';
}
