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

/** Writes a marker with the action, then the manifest of the host's member, which the kubelet starts. */
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

/** Waits until half-finished actions on the other hosts of role etcd are undone. */
const othersClean: Step = {
  name: 'etcd-hosts-clean',
  settleMs: 10 * 60_000,
  diff: (target) => {
    const others = uncleanHosts(target).filter(({ name }) => name !== target.host.name);
    if (target.facts.etcdToken !== 'absent' || others.length === 0) return [];
    return [{ summary: `wait until what is half-finished on ${others.map(({ name }) => name).join(', ')} is undone` }];
  },
};

/** Starts a new etcd on all of its hosts together, each with the same list of members. */
const founded: Step = {
  name: 'etcd-founded',
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    if (facts.etcdToken !== 'absent') return [];
    const unobserved = etcdHosts(inventory).find((other) => linuxFacts(fleet, other) === undefined);
    if (unobserved !== undefined && (fleet.cluster.etcd ?? { state: 'absent' }).state === 'absent')
      throw new Refused(
        host.name,
        `etcd is founded by all its hosts together, and ${unobserved.name} was not observed`,
      );
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

/** Starts a new etcd on all hosts of role etcd. Does nothing if an etcd exists. */
export const etcdFounded: readonly Step[] = [othersClean, founded];
