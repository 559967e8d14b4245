import { isUndoable } from '../facts/marker.ts';
import { isMemberOf } from './members.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { Seen, Standing } from './seen.ts';

interface SeenMember extends Omit<Seen, 'facts'> {
  readonly facts: Pick<LinuxFacts, 'marker' | 'etcdToken' | 'etcdFolder' | 'kubernetesTraces'>;
}

/**
 * The standing of a host of role etcd. The token in its manifest names its cluster. etcd itself reports whether the
 * member votes; while etcd does not answer, a host with complete files counts as joined.
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
