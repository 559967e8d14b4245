import type { ClusterView } from '../cluster/fleet/view.ts';
import type { Check, CheckGroup, Finding } from '../engine/check.ts';
import { FactError } from '../errors.ts';
import { spaceFindings } from './space.ts';
import type { EtcdView } from './view.facts.ts';

type Seen = Pick<EtcdView, 'members' | 'alarms'>;

/** The etcd that answers; empty if no etcd answers. @throws FactError */
function seenOf(cluster: ClusterView): Seen {
  if (cluster.etcd?.state === 'up') return cluster.etcd;
  return cluster.state === 'up' ? cluster : { members: [], alarms: [] };
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
      const { members, alarms } = seenOf(cluster);
      return spaceFindings(members, alarms);
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      // Only a warning: `up` may repair the reason why etcd does not answer.
      return [{ severity: 'warning', host: error.host, message: error.message.replace(`${error.host}: `, '') }];
    }
  },
};

/** What etcd lists; empty if it does not answer, which `etcd-space` reports. */
function membersOf(cluster: ClusterView): Seen['members'] {
  try {
    return seenOf(cluster).members;
  } catch (error) {
    if (!(error instanceof FactError)) throw error;
    return [];
  }
}

const ETCDCTL =
  'etcdctl --cacert /etc/kubernetes/pki/etcd/ca.crt --cert /etc/kubernetes/pki/etcd/server.crt ' +
  '--key /etc/kubernetes/pki/etcd/server.key';

/** How an operator runs etcdctl on a member that votes: in its pod, or in its container where no API shows that. */
function etcdctlOn(cluster: ClusterView): string {
  const [voter] = membersOf(cluster).filter(({ healthy, learner }) => healthy && !learner);
  return cluster.etcd === undefined && voter !== undefined
    ? `kubectl -n kube-system exec etcd-${voter.name} -- ${ETCDCTL}`
    : `on an etcd host: crictl exec $(crictl ps -q --name etcd) ${ETCDCTL}`;
}

const etcdLearners: Check = {
  name: 'etcd-learners',
  title: 'every member of etcd votes',
  why:
    'A learner has the data and no vote: etcd survives the loss of fewer members than it lists. etcd takes no ' +
    'second learner, so no other control plane joins. While a host joins, its member is a learner for seconds. One ' +
    'that stays is left of a join that was cut off, or of a cluster that etcd 3.5 served: etcd 3.6 may read a member ' +
    'that 3.5 promoted as a learner again (etcd-io/etcd #20793).',
  severities: ['warning'],
  test: ({ inventory, fleet: { cluster } }) =>
    membersOf(cluster)
      .filter(({ learner }) => learner)
      .map(({ id, name, peerUrl }): Finding => {
        const host = inventory.hosts.find((one) => one.name === name);
        const etcdctl = etcdctlOn(cluster);
        const member = name === '' ? `at ${peerUrl}, which never started,` : name;
        return {
          severity: 'warning',
          ...(host === undefined ? {} : { host: host.name }),
          message: `etcd's member ${member} (${id}) is a learner: it does not vote`,
          remedy:
            host === undefined
              ? `if no host joins now: ${etcdctl} member remove ${id}`
              : `\`kbuild up\` finishes or undoes a join. If ${name} serves: ${etcdctl} member promote ${id}`,
        };
      }),
};

export const etcdChecks: CheckGroup = { fleet: [etcdSpace, etcdLearners] };
