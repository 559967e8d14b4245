import { FactError, Refused } from '../errors.ts';
import type { ClusterUp, MemberView } from '../facts/cluster.ts';
import { parseEtcd, etcdCommand, withEtcd, type EtcdView } from '../facts/etcd-view.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { On, Remote } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import { gate, type MembershipChange } from './quorum.ts';

/** Who an etcd member belongs to: kubeadm names a member for its node, and a member that never started has no name. */
export interface MemberOf {
  readonly name: string;
  /** Where its peers reach it. */
  readonly internalAddress: string;
}

/** Called immediately before a change of etcd's members, with a healthy control plane: a snapshot. */
export type BeforeMembership = (on: On, control: LinuxHost, reason: string) => Promise<void>;

const PEER_PORT = 2380;

/** True for the member that a host runs, ran, or was about to run. */
export const isMemberOf =
  ({ name, internalAddress }: MemberOf) =>
  (member: Pick<MemberView, 'name' | 'peerUrl'>): boolean =>
    member.name === name || member.peerUrl === `https://${internalAddress}:${String(PEER_PORT)}`;

/** The members of a host; empty where it has none. */
export const membersOf = ({ members }: Pick<ClusterUp, 'members'>, host: MemberOf): readonly MemberView[] =>
  members.filter(isMemberOf(host));

async function observeEtcd(control: Remote<'sh'>): Promise<EtcdView> {
  const said = await control.run(etcdCommand);
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

/** @throws Refused unless etcd, asked at this moment, may get another member. */
export async function passAddGate(control: Remote<'sh'>, joining: string): Promise<void> {
  passGate(joining, await observeEtcd(control), { kind: 'add' });
}

/**
 * Adds a host to etcd as a learner, which has no vote and costs no quorum; tells with whom its member is to start.
 * @throws Refused unless etcd, asked at this moment, may get another member.
 */
export async function addLearner(control: Remote<'sh'>, host: MemberOf): Promise<string> {
  await passAddGate(control, host.name);
  const url = `https://${host.internalAddress}:${String(PEER_PORT)}`;
  await control.run(withEtcd(sh`e add "$@" member add ${host.name} --learner --peer-urls ${url} >/dev/null`));
  const { members } = await observeEtcd(control);
  return members.map((member) => `${member.peerUrl === url ? host.name : member.name}=${member.peerUrl}`).join(',');
}

/**
 * Gives a learner its vote, as soon as etcd's leader says that it has caught up. Nothing happens where the host votes.
 * @throws Refused when the gate says no; CommandError when it has not caught up within 2 minutes.
 */
export async function promoteLearner(control: Remote<'sh'>, host: MemberOf): Promise<void> {
  const view = await observeEtcd(control);
  const member = view.members.find(isMemberOf(host));
  if (member?.learner === false) return;
  // That it is in sync is for the leader to say: it refuses the promotion until then.
  passGate(host.name, view, { kind: 'promote', id: member?.id ?? '', inSync: true });
  await control.run(withEtcd(script('linux/etcd-promote-member.sh', { ID: member?.id ?? '' })));
}

/**
 * Takes a host's members out of etcd through another control plane, each after the gate was asked with what etcd says at
 * this moment; sees afterwards that they are gone. Nothing happens where the host has none.
 * @throws Refused when it would cost quorum.
 */
export async function removeMembers(control: Remote<'sh'>, host: MemberOf): Promise<void> {
  for (;;) {
    const view = await observeEtcd(control);
    const member = view.members.find(isMemberOf(host));
    if (member === undefined) return;
    passGate(host.name, view, { kind: 'remove', id: member.id });
    await control.run(withEtcd(script('linux/etcd-remove-member.sh', { ID: member.id })));
  }
}
