import { etcdDocuments, newCluster, type InitialCluster } from '../configuration/etcd-config.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { linuxFacts } from '../facts/fleet.ts';
import { etcdHosts } from '../topology/select.ts';
import { paths } from '../paths.ts';
import type { On } from '../remote/remote.ts';
import { script, using } from '../templates.ts';
import { isToBeFounded, uncleanHosts } from './founding.ts';

/** Writes the manifest of a host's member, after a marker that tells what is going on; the kubelet starts it. */
export async function startMember(
  { inventory, host }: Target,
  on: On,
  action: 'init' | 'join',
  initial: InitialCluster,
): Promise<void> {
  await on(host).job(
    'etcd-member',
    using(
      'linux/marker.sh',
      script('linux/etcd-member.sh', { ACTION: action, CLUSTER: inventory.name, MARKER: paths.marker }),
    ),
    { 'config.yaml': secretYaml(etcdDocuments(inventory, host, { initial })) },
  );
}

/** No other host of role etcd is about to be cleaned: it would not count as new. */
const othersClean: Step = {
  name: 'etcd-hosts-clean',
  settleMs: 10 * 60_000,
  diff: (target) => {
    const others = uncleanHosts(target).filter(({ name }) => name !== target.host.name);
    if (target.facts.etcdToken !== 'absent' || others.length === 0) return [];
    return [{ summary: `wait until what is half-finished on ${others.map(({ name }) => name).join(', ')} is undone` }];
  },
};

/** Founds etcd on all of its hosts together, when there is none: each starts with the same list of members. */
const founded: Step = {
  name: 'etcd-founded',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    if (facts.etcdToken !== 'absent') return [];
    const unseen = etcdHosts(inventory).find((one) => linuxFacts(fleet, one) === undefined);
    if (unseen !== undefined && (fleet.cluster.etcd ?? { state: 'absent' }).state === 'absent')
      throw new Refused(host.name, `etcd is founded by all its hosts together, and ${unseen.name} was not observed`);
    if (!isToBeFounded(target)) return [];
    if (fleet.cluster.state !== 'absent')
      throw new Refused(
        host.name,
        `there is a cluster ${inventory.name}, and none of its hosts of role etcd holds its data`,
        'bring one of the hosts with the data back; an etcd cannot be put in the place of another one',
      );
    return [
      {
        summary: `start etcd on ${host.name}, one of ${etcdHosts(inventory)
          .map(({ name }) => name)
          .join(', ')} (found none)`,
        apply: (on) => startMember(target, on, 'init', newCluster(inventory)),
      },
    ];
  },
};

/** A new etcd, started by all hosts of role etcd. Nothing where there is one already. */
export const etcdFounded: readonly Step[] = [othersClean, founded];
