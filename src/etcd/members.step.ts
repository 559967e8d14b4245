import { liveEtcd, memberHost } from '../cluster/member-host.ts';
import {
  addLearner,
  type BeforeMembership,
  gate,
  isMemberOf,
  membersOf,
  promoteLearner,
  refuseTakenAddress,
  removeMembers,
} from '../cluster/members.ts';
import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { isToBeFounded, startMember } from './found.step.ts';
import { type MemberView, withEtcd } from './view.facts.ts';

const MINUTES = 60_000;

const isFounding = (target: Target): boolean =>
  isToBeFounded(target) || (typeof target.facts.marker === 'object' && target.facts.marker.action === 'init');

/** True for a host that must still join an existing etcd. */
const isYetToJoin = (target: Target): boolean => standing(target) !== 'joined' && !isFounding(target);

/** The host's member of etcd. Throws like `liveEtcd`. */
const memberOf = ({ fleet, host }: Target): MemberView | undefined => liveEtcd(fleet).members.find(isMemberOf(host));

const hasStarted = ({ name, healthy }: MemberView): boolean => name !== '' && healthy;

/** Waits until etcd answers and all of its members are healthy: only then may another member join. */
const well: Step = {
  name: 'etcd-well',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { host, fleet, facts } = target;
    if (!isYetToJoin(target)) return [];
    const { etcd } = fleet.cluster;
    if (etcd?.state !== 'up')
      return [{ summary: `wait for etcd to answer${etcd?.state === 'down' ? ` (${etcd.reason})` : ''}` }];
    if (facts.etcdToken !== 'absent') return [];
    const own = new Set(membersOf(etcd, host).map(({ id }) => id));
    const others = etcd.members.filter(({ id }) => !own.has(id));
    const { allowed, why } = gate({ members: others, alarms: etcd.alarms }, { kind: 'add' });
    return allowed ? [] : [{ summary: `wait until ${host.name} may become a member of etcd: ${why}` }];
  },
};

/** The stale member of the host, as text for the summary. @throws Refused if it cannot be removed */
function stale({ fleet, host }: Target): string {
  if (fleet.cluster.etcd?.state !== 'up') return '';
  const etcd = liveEtcd(fleet);
  refuseTakenAddress(etcd.members, host);
  const [member] = membersOf(etcd, host);
  if (member === undefined) return ` (found ${String(etcd.members.length)} members)`;
  const { allowed, why } = gate(etcd, { kind: 'remove', id: member.id });
  if (!allowed) throw new Refused('quorum', host.name, `its stale etcd member ${member.id} cannot be removed: ${why}`);
  return ` (found its stale member ${member.id}, which is removed first)`;
}

async function add(target: Target, on: On, before: BeforeMembership): Promise<void> {
  const { inventory, host, fleet } = target;
  const through = memberHost(inventory, fleet, host.name);
  await before(on, through, `before ${host.name} became a member of etcd`);
  await removeMembers(inventory, on(through), host);
  const members = await addLearner(inventory, on(through), host);
  await startMember(target, on, 'join', { state: 'existing', members });
}

/** Adds a host to etcd as a learner, a member without a vote, and waits until it has started. */
const added = (before: BeforeMembership): Step => ({
  name: 'etcd-member-added',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { host, facts } = target;
    if (!isYetToJoin(target)) return [];
    if (facts.etcdToken === 'absent')
      return [
        {
          summary: `add ${host.name} to etcd as a learner${stale(target)}`,
          apply: (on) => add(target, on, before),
        },
      ];
    const member = memberOf(target);
    if (member !== undefined && (hasStarted(member) || !member.learner)) return [];
    return [{ summary: `wait until etcd on ${host.name} has started as a learner` }];
  },
});

/** Promotes a learner that has caught up. */
const promoted: Step = {
  name: 'etcd-member-promoted',
  settleMs: MINUTES,
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    if (!isYetToJoin(target)) return [];
    if (facts.etcdToken !== 'absent' && memberOf(target)?.learner === false) return [];
    return [
      {
        summary: `promote ${host.name} to a voting member of etcd, once it has caught up`,
        apply: (on) => promoteLearner(inventory, on(memberHost(inventory, fleet, host.name)), host),
      },
    ];
  },
};

const health = sh`e health "$@" endpoint health >/dev/null`;
const healthOfAll = sh`e health "$@" endpoint health --cluster >/dev/null`;

/** Waits until the host's member votes and is healthy, then removes the marker of its start. */
const serves: Step = {
  name: 'etcd-serves',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { host, fleet } = target;
    if (standing(target) === 'joined') {
      const { etcd } = fleet.cluster;
      if (etcd?.state === 'up' && etcd.members.some((member) => isMemberOf(host)(member) && hasStarted(member)))
        return [];
      const found = etcd?.state === 'down' ? etcd.reason : 'it is not healthy';
      return [{ summary: `wait until etcd on ${host.name} serves (found: ${found})` }];
    }
    return [
      {
        summary: `check that etcd on ${host.name} serves`,
        apply: async (on) => {
          const CHECK = withEtcd(target.inventory, host, isFounding(target) ? healthOfAll : health).script;
          await on(host).job('etcd-serves', script('etcd/etcd-serves.sh', { CHECK, MARKER: paths.marker }));
        },
      },
    ];
  },
};

/** Makes every host of role etcd a healthy member that votes. A new host joins an existing etcd as a learner first. */
export const etcdMembers = (before: BeforeMembership): readonly Step[] => [well, added(before), promoted, serves];
