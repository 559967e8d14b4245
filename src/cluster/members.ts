import { FactError, Refused } from '../errors.ts';
import { etcdCommand, type EtcdView, type MemberView, parseEtcd, withEtcd } from '../etcd/view.facts.ts';
import { hostPort } from '../inventory/addresses.ts';
import type { Host, Inventory, LinuxHost } from '../inventory/inventory.ts';
import { sh } from '../shell/sh.ts';
import type { On, Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { docsPage } from '../versions.ts';
import type { ClusterUp } from './fleet/view.ts';

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
type Verdict = { readonly allowed: true; readonly why: string } | { readonly allowed: false; readonly why: string };

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
      const after =
        `without ${called(member)} ${String(left)} of ${String(n - 1)} would be healthy, ` +
        `quorum ${String(quorumOf(n - 1))}`;
      return left >= quorumOf(n - 1) ? allowed(`${counted}; ${after}`) : refused(`${counted}; ${after}`);
    }
    case 'promote': {
      const member = members.find(({ id }) => id === change.id);
      if (member?.learner !== true) return refused(`member ${change.id} is no learner`);
      if (!change.inSync || !started(member) || !member.healthy)
        return refused(`${called(member)} has not caught up with the leader`);
      const after =
        `with ${member.name} ${String(h + 1)} of ${String(n + 1)} would be healthy, ` +
        `quorum ${String(quorumOf(n + 1))}`;
      return h + 1 >= quorumOf(n + 1) ? allowed(`${counted}; ${after}`) : refused(`${counted}; ${after}`);
    }
  }
}

/** A host or node that may have an etcd member. kubeadm gives a member the name of its node. */
export interface MemberOf {
  readonly name: string;
  /** The address at which the other etcd members reach it. */
  readonly internalAddress: string;
  /** A worker or load balancer never has a member that is matched by address. */
  readonly role: Host['role'];
}

/** Called immediately before a change of etcd's members, with a healthy control plane: takes a snapshot. */
export type BeforeMembership = (on: On, control: LinuxHost, reason: string) => Promise<void>;

/**
 * Called immediately before kbuild undoes a half-finished action on a host: saves the host's etcd data if it can be
 * read. @throws if the data cannot be saved; then nothing is undone.
 */
export type KeepData = (on: On, host: LinuxHost) => Promise<void>;

const PEER_PORT = 2380;

const peerUrl = ({ internalAddress }: Pick<MemberOf, 'internalAddress'>): string =>
  `https://${hostPort(internalAddress, PEER_PORT)}`;

/**
 * True for the etcd member of a host: running, stopped, or added but never started. Matches members by name. A learner
 * that never started has no name, and only such a member is matched by its address: DHCP may have given the address of
 * a dead host to another host, whose member has a name.
 */
export const isMemberOf =
  (host: MemberOf) =>
  (member: Pick<MemberView, 'name' | 'peerUrl'>): boolean =>
    member.name === '' ? mayBeNameless(host) && member.peerUrl === peerUrl(host) : member.name === host.name;

const mayBeNameless = ({ role }: MemberOf): boolean => role === 'control-plane' || role === 'etcd';

/** The etcd members of a host. */
export const membersOf = ({ members }: Pick<ClusterUp, 'members'>, host: MemberOf): readonly MemberView[] =>
  members.filter(isMemberOf(host));

/** etcd at this moment, as the member of a host sees it. @throws CommandError and FactError if it does not answer */
export async function observeEtcd(inventory: Inventory, control: Remote<'sh'>): Promise<EtcdView> {
  const output = await control.run(etcdCommand(inventory, control.host));
  try {
    return parseEtcd(output);
  } catch (error) {
    throw new FactError(control.host.name, 'etcd', error instanceof Error ? error.message : String(error));
  }
}

/** Passes a change through the quorum gate, with etcd's current view. @throws Refused with the arithmetic. */
function requireGate(subject: string, view: EtcdView, change: MembershipChange): void {
  const { allowed, why } = gate(view, change);
  if (!allowed)
    throw new Refused('quorum', subject, why, 'see `kbuild status`; heal or remove the members that are down first');
}

/**
 * kubeadm treats a member with the address of the joining host as that host's own, whatever its name is.
 * @throws Refused when a member of another name has the host's address.
 */
export function refuseTakenAddress(members: readonly MemberView[], joining: MemberOf): void {
  const url = peerUrl(joining);
  const other = members.find((member) => member.name !== '' && member.name !== joining.name && member.peerUrl === url);
  if (other === undefined) return;
  throw new Refused(
    'member-address',
    joining.name,
    `etcd's member ${other.name} (${other.id}, ${other.healthy ? 'healthy' : 'not healthy'}) has its address ${url}`,
    other.healthy
      ? `correct the internalAddress of ${joining.name} or ${other.name} in the inventory`
      : `if ${other.name} is gone for good: \`kbuild remove ${other.name} --dead ${other.name}\``,
  );
}

/**
 * Passes the join of a member at the address of `joining` through the gate, with etcd's current view. @throws Refused.
 */
export async function passAddGate(inventory: Inventory, control: Remote<'sh'>, joining: MemberOf): Promise<void> {
  const view = await observeEtcd(inventory, control);
  refuseTakenAddress(view.members, joining);
  requireGate(joining.name, view, { kind: 'add' });
}

/**
 * @throws Refused unless every etcd member votes and is healthy at this moment: only then may a member restart.
 * `mayMend`: the member of the host itself may be down, as the restart costs nothing then, and may be what mends it.
 * What restarts more than etcd goes through `passRestartGate` of restart-gate.ts.
 */
export async function passEtcdGate(
  inventory: Inventory,
  control: Remote<'sh'>,
  host: MemberOf,
  { mayMend = false }: { readonly mayMend?: boolean } = {},
): Promise<void> {
  const view = await observeEtcd(inventory, control);
  const isOwnDown = (member: MemberView): boolean => isMemberOf(host)(member) && !member.learner && !member.healthy;
  const asked = mayMend ? view.members.filter((member) => !isOwnDown(member)) : view.members;
  requireGate(host.name, { ...view, members: asked }, { kind: 'add' });
}

/**
 * Adds a host to etcd as a learner, which has no vote and costs no quorum. Returns the `initial-cluster` with which its
 * member starts.
 * @throws Refused unless etcd may get another member at this moment.
 */
export async function addLearner(inventory: Inventory, control: Remote<'sh'>, host: MemberOf): Promise<string> {
  await passAddGate(inventory, control, host);
  const url = peerUrl(host);
  await control.run(
    withEtcd(inventory, control.host, sh`e add "$@" member add ${host.name} --learner --peer-urls ${url} >/dev/null`),
  );
  const { members } = await observeEtcd(inventory, control);
  return members.map((member) => `${member.peerUrl === url ? host.name : member.name}=${member.peerUrl}`).join(',');
}

/**
 * Promotes a learner to a voter when etcd's leader reports that it is in sync. Does nothing if the host votes already.
 * @throws Refused if the gate refuses; CommandError if the learner is not in sync within 2 minutes.
 */
export async function promoteLearner(inventory: Inventory, control: Remote<'sh'>, host: MemberOf): Promise<void> {
  const view = await observeEtcd(inventory, control);
  const member = view.members.find(isMemberOf(host));
  if (member?.learner === false) return;
  // Only the leader knows whether the learner is in sync, and it refuses the promotion until then.
  requireGate(host.name, view, { kind: 'promote', id: member?.id ?? '', inSync: true });
  await control.run(
    withEtcd(inventory, control.host, script('cluster/etcd-promote-member.sh', { ID: member?.id ?? '' })),
  );
}

/**
 * Why the member of a host must not be removed: it is healthy at an address that is not the host's, so it may run on
 * another machine of that name. undefined if it may.
 */
export function livingElsewhere(
  { id, healthy, peerUrl: url }: MemberView,
  host: MemberOf,
): Refused<'member-address'> | undefined {
  if (!healthy || url === peerUrl(host)) return undefined;
  return new Refused(
    'member-address',
    host.name,
    `its etcd member ${id} is healthy at ${url}, and the address of ${host.name} is ${host.internalAddress}`,
    `correct the internalAddress of ${host.name} in the inventory; a host gets another one when it has left: ` +
      docsPage('operations.md#an-address'),
  );
}

/**
 * Removes a host's members from etcd through another control plane. Each removal passes the gate with etcd's current
 * view. Checks afterwards that the members are gone. Does nothing if the host has no member.
 * @throws Refused if it would cost quorum, or if the member is healthy at an address that is not the host's.
 */
export async function removeMembers(inventory: Inventory, control: Remote<'sh'>, host: MemberOf): Promise<void> {
  for (;;) {
    const view = await observeEtcd(inventory, control);
    const member = view.members.find(isMemberOf(host));
    if (member === undefined) return;
    const refused = livingElsewhere(member, host);
    if (refused !== undefined) throw refused;
    requireGate(host.name, view, { kind: 'remove', id: member.id });
    await control.run(withEtcd(inventory, control.host, script('cluster/etcd-remove-member.sh', { ID: member.id })));
  }
}
