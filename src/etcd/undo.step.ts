import { memberHost } from '../cluster/member-host.ts';
import { type BeforeMembership, gate, isMemberOf, type KeepData, removeMembers } from '../cluster/members.ts';
import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { resetConfiguration } from '../kubeadm/config.ts';
import { kubeadmJob } from '../kubeadm/job.step.ts';
import { secretYaml } from '../shell/yaml.ts';
import { isToBeFounded } from './found.step.ts';
import type { MemberView } from './view.facts.ts';

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
        summary: `undo a half-finished member of etcd on ${host.name}${member === undefined ? '' : ` (found ${member.learner ? 'learner' : 'member'} ${member.id})`}`,
        apply: async (on) => {
          if (etcd?.state === 'down')
            throw new Refused('cluster-down', host.name, 'etcd does not answer, and may need the data on this host');
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
