import { FactError, Refused } from '../errors.ts';
import type { ClusterUp, MemberView } from '../facts/cluster.ts';
import { parseEtcd, etcdCommand, withEtcd, type EtcdView } from '../facts/etcd-view.ts';
import type { Host, Inventory, LinuxHost } from '../model/inventory.ts';
import type { On, Remote } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import { gate, type MembershipChange } from './quorum.ts';

/** A host or node that an etcd member may belong to: kubeadm names a member for its node. */
export interface MemberOf {
  readonly name: string;
  /** Where the peers of its member reach it. */
  readonly internalAddress: string;
  /** A host that was never a control plane or etcd host has no member without a name. */
  readonly role: Host['role'];
}

/** Called immediately before a change of etcd's members, with a healthy control plane: a snapshot. */
export type BeforeMembership = (on: On, control: LinuxHost, reason: string) => Promise<void>;

/**
 * Called immediately before something half-finished is undone on a host: keeps etcd's data that lies there, where it can be
 * read. @throws what keeps it from being kept; nothing is undone then.
 */
export type KeepData = (on: On, host: LinuxHost) => Promise<void>;

const PEER_PORT = 2380;

const peerUrl = ({ internalAddress }: Pick<MemberOf, 'internalAddress'>): string =>
  `https://${internalAddress}:${String(PEER_PORT)}`;

/**
 * True for the member that a host runs, ran, or was about to run. Members are matched by name. A learner that never started
 * has no name, and only such a member is matched by its address: DHCP may have given the address of a host that is gone to
 * another one, whose member has a name.
 */
export const isMemberOf =
  (host: MemberOf) =>
  (member: Pick<MemberView, 'name' | 'peerUrl'>): boolean =>
    member.name === '' ? mayBeNameless(host) && member.peerUrl === peerUrl(host) : member.name === host.name;

const mayBeNameless = ({ role }: MemberOf): boolean => role === 'control-plane' || role === 'etcd';

/** The members of a host; empty where it has none. */
export const membersOf = ({ members }: Pick<ClusterUp, 'members'>, host: MemberOf): readonly MemberView[] =>
  members.filter(isMemberOf(host));

async function observeEtcd(inventory: Inventory, control: Remote<'sh'>): Promise<EtcdView> {
  const said = await control.run(etcdCommand(inventory));
  try {
    return parseEtcd(said);
  } catch (error) {
    throw new FactError(control.host.name, 'etcd', error instanceof Error ? error.message : String(error));
  }
}

/** Asks the gate about a change with what etcd says at this moment. @throws Refused with the arithmetic. */
export function passGate(subject: string, view: EtcdView, change: MembershipChange): void {
  const { allowed, why } = gate(view, change);
  if (!allowed) throw new Refused(subject, why, 'see `kbuild status`; heal or remove the members that are down first');
}

/**
 * kubeadm takes a member with the address of the joining host for that host's own, whatever its name is.
 * @throws Refused when a member of another name has the host's address.
 */
export function refuseTakenAddress(members: readonly MemberView[], joining: MemberOf): void {
  const url = peerUrl(joining);
  const other = members.find((member) => member.name !== '' && member.name !== joining.name && member.peerUrl === url);
  if (other === undefined) return;
  throw new Refused(
    joining.name,
    `etcd's member ${other.name} (${other.id}, ${other.healthy ? 'healthy' : 'not healthy'}) has its address ${url}`,
    other.healthy
      ? `correct the internalAddress of ${joining.name} or ${other.name} in the inventory`
      : `if ${other.name} is gone for good: \`kbuild remove ${other.name} --dead ${other.name}\``,
  );
}

/** @throws Refused unless etcd, asked at this moment, may get another member at the address of `joining`. */
export async function passAddGate(inventory: Inventory, control: Remote<'sh'>, joining: MemberOf): Promise<void> {
  const view = await observeEtcd(inventory, control);
  refuseTakenAddress(view.members, joining);
  passGate(joining.name, view, { kind: 'add' });
}

/** @throws Refused unless every member of etcd, asked at this moment, votes and is healthy: only then one may restart. */
export async function passRestartGate(inventory: Inventory, control: Remote<'sh'>, host: MemberOf): Promise<void> {
  passGate(host.name, await observeEtcd(inventory, control), { kind: 'add' });
}

/**
 * Adds a host to etcd as a learner, which has no vote and costs no quorum; tells with whom its member is to start.
 * @throws Refused unless etcd, asked at this moment, may get another member.
 */
export async function addLearner(inventory: Inventory, control: Remote<'sh'>, host: MemberOf): Promise<string> {
  await passAddGate(inventory, control, host);
  const url = peerUrl(host);
  await control.run(
    withEtcd(inventory, sh`e add "$@" member add ${host.name} --learner --peer-urls ${url} >/dev/null`),
  );
  const { members } = await observeEtcd(inventory, control);
  return members.map((member) => `${member.peerUrl === url ? host.name : member.name}=${member.peerUrl}`).join(',');
}

/**
 * Gives a learner its vote, as soon as etcd's leader says that it has caught up. Nothing happens where the host votes.
 * @throws Refused when the gate says no; CommandError when it has not caught up within 2 minutes.
 */
export async function promoteLearner(inventory: Inventory, control: Remote<'sh'>, host: MemberOf): Promise<void> {
  const view = await observeEtcd(inventory, control);
  const member = view.members.find(isMemberOf(host));
  if (member?.learner === false) return;
  // That it is in sync is for the leader to say: it refuses the promotion until then.
  passGate(host.name, view, { kind: 'promote', id: member?.id ?? '', inSync: true });
  await control.run(withEtcd(inventory, script('linux/etcd-promote-member.sh', { ID: member?.id ?? '' })));
}

/** @throws Refused where the member is healthy at another address than the host's: another machine bears the name. */
function refuseLiving({ id, healthy, peerUrl: url }: MemberView, host: MemberOf): void {
  if (!healthy || url === peerUrl(host)) return;
  throw new Refused(
    host.name,
    `its etcd member ${id} is healthy at ${url}, and the address of ${host.name} is ${host.internalAddress}`,
    `correct the internalAddress of ${host.name} in the inventory`,
  );
}

/**
 * Takes a host's members out of etcd through another control plane, each after the gate was asked with what etcd says at
 * this moment; sees afterwards that they are gone. Nothing happens where the host has none.
 * @throws Refused when it would cost quorum, or when the member is healthy at another address than the host's.
 */
export async function removeMembers(inventory: Inventory, control: Remote<'sh'>, host: MemberOf): Promise<void> {
  for (;;) {
    const view = await observeEtcd(inventory, control);
    const member = view.members.find(isMemberOf(host));
    if (member === undefined) return;
    refuseLiving(member, host);
    passGate(host.name, view, { kind: 'remove', id: member.id });
    await control.run(withEtcd(inventory, script('linux/etcd-remove-member.sh', { ID: member.id })));
  }
}
