import type { ClusterView } from '../cluster/fleet/view.ts';
import type { Check, CheckGroup } from '../engine/check.ts';
import { FactError } from '../errors.ts';
import { type SpaceFinding, spaceFindings } from './space.ts';

/** Findings about the space of the etcd that answers; empty if no etcd answers. @throws FactError */
function findingsOf(cluster: ClusterView): readonly SpaceFinding[] {
  if (cluster.etcd?.state === 'up') return spaceFindings(cluster.etcd.members, cluster.etcd.alarms);
  return cluster.state === 'up' ? spaceFindings(cluster.members, cluster.alarms) : [];
}

const etcdSpace: Check = {
  name: 'etcd-space',
  title: 'etcd has no alarm NOSPACE, and the database of every member is well below its quota',
  why:
    'When the database of one member reaches its quota (2 GiB unless `quota-backend-bytes` says otherwise), etcd ' +
    'raises the alarm NOSPACE. Then no member accepts writes, so nothing in the cluster can change until there ' +
    'is room and the alarm is disarmed. `kbuild etcd defragment` does both. kbuild warns above 80% of the quota. ' +
    'If the data in use is that large, raise the quota ([operations](operations.md#space-of-etcd)).',
  severities: ['error', 'warning'],
  test: ({ fleet: { cluster } }) => {
    try {
      return findingsOf(cluster);
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      // Only a warning: `up` may repair the reason why etcd does not answer.
      return [{ severity: 'warning', host: error.host, message: error.message.replace(`${error.host}: `, '') }];
    }
  },
};

export const etcdChecks: CheckGroup = { fleet: [etcdSpace] };
