import type { MemberView } from '../facts/cluster.ts';

/** What the gate judges: etcd's own view, observed immediately before a change. */
export interface Membership {
  readonly members: readonly Pick<MemberView, 'id' | 'name' | 'learner' | 'healthy'>[];
  readonly alarms: readonly string[];
}

/** A change of etcd's members. `add` adds a learner. `inSync`: the leader reports that the learner has caught up. */
export type MembershipChange =
  | { readonly kind: 'add' }
  | { readonly kind: 'remove'; readonly id: string }
  | { readonly kind: 'promote'; readonly id: string; readonly inSync: boolean };

/** The gate's decision, with the arithmetic as text. */
export type Verdict =
  { readonly allowed: true; readonly why: string } | { readonly allowed: false; readonly why: string };

/** The number of voters of `n` that must agree. */
export const quorumOf = (n: number): number => Math.floor(n / 2) + 1;

const allowed = (why: string): Verdict => ({ allowed: true, why });
const refused = (why: string): Verdict => ({ allowed: false, why });

/** True for a member that has started: etcd learns its name only then. */
const started = ({ name }: { readonly name: string }): boolean => name !== '';

const called = ({ name, id }: { readonly name: string; readonly id: string }): string =>
  name === '' ? `member ${id}, which never started` : name;

/**
 * The gate for every change of etcd's members: no change may cost quorum, and none starts without quorum. A member that
 * does not answer counts as down. The gate only judges: kbuild never removes a member because it does not answer.
 */
export function gate({ members, alarms }: Membership, change: MembershipChange): Verdict {
  const voters = members.filter(({ learner }) => !learner);
  const healthy = voters.filter((member) => started(member) && member.healthy);
  const [n, h] = [voters.length, healthy.length];
  const counted = `${String(h)} of ${String(n)} voters healthy, quorum ${String(quorumOf(n))}`;
  if (alarms.length > 0) return refused(`etcd has an alarm: ${alarms.join(', ')}`);
  if (h < quorumOf(n)) return refused(`etcd has no quorum: ${counted}`);

  switch (change.kind) {
    case 'add': {
      const learner = members.find((member) => member.learner);
      if (learner !== undefined) return refused(`${called(learner)} is still a learner; one member joins at a time`);
      const off = voters.find((member) => !started(member) || !member.healthy);
      if (off !== undefined) return refused(`${called(off)} is not healthy (${counted})`);
      return allowed(`${counted}; ${String(n + 1)} voters afterwards, quorum ${String(quorumOf(n + 1))}`);
    }
    case 'remove': {
      const member = members.find(({ id }) => id === change.id);
      if (member === undefined) return allowed(`member ${change.id} is not there (${counted})`);
      if (member.learner) return allowed(`${called(member)} is a learner and has no vote (${counted})`);
      if (n === 1) return refused(`${called(member)} is the last voter`);
      const left = healthy.filter(({ id }) => id !== member.id).length;
      const after = `without ${called(member)} ${String(left)} of ${String(n - 1)} would be healthy, quorum ${String(quorumOf(n - 1))}`;
      return left >= quorumOf(n - 1) ? allowed(`${counted}; ${after}`) : refused(`${counted}; ${after}`);
    }
    case 'promote': {
      const member = members.find(({ id }) => id === change.id);
      if (member?.learner !== true) return refused(`member ${change.id} is no learner`);
      if (!change.inSync || !started(member) || !member.healthy)
        return refused(`${called(member)} has not caught up with the leader`);
      const after = `with ${member.name} ${String(h + 1)} of ${String(n + 1)} would be healthy, quorum ${String(quorumOf(n + 1))}`;
      return h + 1 >= quorumOf(n + 1) ? allowed(`${counted}; ${after}`) : refused(`${counted}; ${after}`);
    }
  }
}
