import { type Fleet, linuxFacts } from '../cluster/fleet/fleet.ts';
import { memberHost } from '../cluster/member-host.ts';
import { type BeforeMembership, gate, isMemberOf, type KeepData, removeMembers } from '../cluster/members.ts';
import { hasOwnMarker, refuseUndo, standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { etcdHosts } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { resetConfiguration } from '../kubeadm/config.ts';
import { kubeadmJob } from '../kubeadm/run-kubeadm.step.ts';
import { paths } from '../paths.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { etcdDocuments, type InitialCluster, newCluster } from './config.ts';
import type { MemberView } from './view.facts.ts';

/** True for a host without etcd's data, or with the leftovers of an interrupted first start of etcd by kbuild. */
function isBlank(inventory: Inventory, fleet: Fleet, host: LinuxHost): boolean {
  const facts = linuxFacts(fleet, host);
  if (facts === undefined) return false;
  if (facts.kubernetesTraces.size === 0) return true;
  if (hasOwnMarker(inventory, facts)) return typeof facts.marker === 'object' && facts.marker.action === 'init';
  return facts.etcdToken === 'absent' && !facts.kubernetesTraces.has(`${facts.etcdFolder}/member`);
}

/**
 * True if all hosts of role etcd must still start a new etcd together: no host has data of an etcd whose start was
 * completed. If one host started a new etcd alone, the cluster's data would split.
 */
export const isToBeFounded = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): boolean =>
  etcdHosts(inventory).every((host) => isBlank(inventory, fleet, host));

/** Hosts of role etcd with a half-finished action that another step undoes. */
const uncleanHosts = ({ inventory, fleet }: Pick<Target, 'inventory' | 'fleet'>): readonly LinuxHost[] =>
  etcdHosts(inventory).filter((host) => {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined || isBlank(inventory, fleet, host)) return false;
    return standing({ inventory, host, facts, fleet }) === 'partial';
  });

/** Writes a marker with the action, then the manifest of the host's member, which the kubelet starts. */
export async function startMember(
  { inventory, host }: Target,
  on: On,
  action: 'init' | 'join',
  initial: InitialCluster,
): Promise<void> {
  await on(host).job(
    'etcd-member',
    script('etcd/etcd-member.sh', { ACTION: action, CLUSTER: inventory.name, MARKER: paths.marker }),
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
    return [
      { summary: `wait until the half-finished action on ${others.map(({ name }) => name).join(', ')} is undone` },
    ];
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
        'host-not-observed',
        host.name,
        `all its hosts create etcd together, and kbuild did not reach ${unobserved.name}`,
      );
    if (!isToBeFounded(target)) return [];
    if (fleet.cluster.state !== 'absent')
      throw new Refused(
        'etcd-data-missing',
        host.name,
        `there is a cluster ${inventory.name}, and none of its hosts of role etcd holds its data`,
        'bring one of the hosts with the data back; kbuild does not replace a lost etcd by an empty one',
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

/** The host's member, if etcd answers and has one. */
function memberOf({ fleet: { cluster }, host }: Target): MemberView | undefined {
  return cluster.etcd?.state === 'up' ? cluster.etcd.members.find(isMemberOf(host)) : undefined;
}

/** True if a half-finished action cannot continue: its member never started, or a run was removing it. */
function isToBeUndone(target: Target): boolean {
  const { facts } = target;
  if (standing(target) !== 'partial' || isToBeFounded(target)) return false;
  if (typeof facts.marker === 'object' && facts.marker.action === 'init') return false;
  const member = memberOf(target);
  return member === undefined || member.name === '';
}

/** Waits for etcd before kbuild undoes a member: after a power cut, etcd may need that member for quorum. */
const answers: Step = {
  name: 'etcd-answers',
  settleMs: 5 * 60_000,
  diff: (target) => {
    const { etcd } = target.fleet.cluster;
    return etcd?.state === 'down' && isToBeUndone(target)
      ? [{ summary: `wait for etcd to answer, before the half-finished action on ${target.host.name} is undone` }]
      : [];
  },
};

/** Undoes a half-finished join or removal of a member, so that it can be repeated. Removes its learner. */
const undone = (before: BeforeMembership, keep: KeepData): Step => ({
  name: 'undo-half-finished-etcd',
  diff: (target) => {
    if (!isToBeUndone(target)) return [];
    const { inventory, host, fleet } = target;
    const { etcd } = fleet.cluster;
    const member = memberOf(target);
    if (member !== undefined && etcd?.state === 'up') {
      const { allowed, why } = gate(etcd, { kind: 'remove', id: member.id });
      if (!allowed) throw new Refused('quorum', host.name, `its etcd member ${member.id} cannot be removed: ${why}`);
    }
    return [
      {
        summary:
          'undo a half-finished member of etcd on ' +
          `${host.name}${member === undefined ? '' : ` (found ${member.learner ? 'learner' : 'member'} ${member.id})`}`,
        apply: async (on) => {
          refuseUndo(target);
          await keep(on, host);
          if (member !== undefined) {
            const through = memberHost(inventory, fleet, host.name);
            await before(on, through, `before ${host.name} was undone`);
            await removeMembers(inventory, on(through), host);
          }
          await kubeadmJob(on(host), inventory, 'reset', secretYaml([resetConfiguration(inventory, host)]));
        },
      },
    ];
  },
});

/** Undoes members that an interrupted run left half-finished. */
export const undoHalfFinishedEtcd = (before: BeforeMembership, keep: KeepData): readonly Step[] => [
  answers,
  undone(before, keep),
];
