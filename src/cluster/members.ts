import { FactError, Refused } from '../errors.ts';
import type { ClusterUp, MemberView } from '../facts/cluster.ts';
import { parseEtcd, etcdCommand, withEtcd, type EtcdView } from '../facts/etcd-view.ts';
import type { Host, Inventory, LinuxHost } from '../model/inventory.ts';
import type { On, Remote } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import { gate, type MembershipChange } from './quorum.ts';

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
  `https://${internalAddress}:${String(PEER_PORT)}`;

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
  if (!allowed) throw new Refused(subject, why, 'see `kbuild status`; heal or remove the members that are down first');
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
 * @throws Refused unless every etcd member votes and is healthy at this moment: only then may a member restart. `mayMend`: the member of the
 * host itself may be down, as the restart costs nothing then, and may be what mends it. What restarts more than etcd goes through
 * `passRestartGate` of restart-gate.ts.
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
    withEtcd(inventory, control.host, script('linux/etcd-promote-member.sh', { ID: member?.id ?? '' })),
  );
}

/**
 * Why the member of a host must not be removed: it is healthy at an address that is not the host's, so it may run on another machine of that
 * name. undefined if it may.
 */
export function livingElsewhere({ id, healthy, peerUrl: url }: MemberView, host: MemberOf): Refused | undefined {
  if (!healthy || url === peerUrl(host)) return undefined;
  return new Refused(
    host.name,
    `its etcd member ${id} is healthy at ${url}, and the address of ${host.name} is ${host.internalAddress}`,
    `correct the internalAddress of ${host.name} in the inventory; a host gets another one when it has left (docs/operations.md, "An address")`,
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
    await control.run(withEtcd(inventory, control.host, script('linux/etcd-remove-member.sh', { ID: member.id })));
  }
}
