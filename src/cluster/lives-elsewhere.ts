import type { ClusterUp, MemberView, NodeView } from '../facts/cluster.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { WindowsFacts } from '../facts/windows.ts';
import type { Host } from '../model/inventory.ts';

/** A host (Linux or Windows) with its facts. A step's `Target` is one. */
export interface Identity {
  readonly host: Host;
  readonly facts: LinuxFacts | WindowsFacts;
}

/** The IP addresses on the host's interfaces. */
export const addressesOf = ({ facts }: Identity): readonly string[] =>
  'interfaces' in facts
    ? facts.interfaces.flatMap(({ addresses }) => addresses)
    : facts.network.addresses.map(({ address }) => address);

/** /etc/machine-id of a Linux host, which the kubelet reports too; empty if the host has none. */
export const machineIdOf = ({ facts }: Identity): string =>
  'machineId' in facts && facts.machineId !== 'absent' ? facts.machineId : '';

/** A machine in a message: `10.0.0.21, machine-id 0a1b…`. */
export const identityText = (address: string, machineId: string): string =>
  `${address}${machineId === '' ? '' : `, machine-id ${machineId}`}`;

/** The host's machine in a message, by the address of the cluster's network if it has it. */
export const thisHost = (observed: Identity): string =>
  identityText(
    addressesOf(observed).includes(observed.host.internalAddress)
      ? observed.host.internalAddress
      : observed.host.address,
    machineIdOf(observed),
  );

/** True if both are known and differ. */
export const hasAnotherMachineId = (observed: Identity, { machineId }: NodeView): boolean =>
  machineId !== '' && machineIdOf(observed) !== '' && machineId !== machineIdOf(observed);

const readyNode = ({ nodes }: ClusterUp, name: string): NodeView | undefined =>
  nodes.find((node) => node.name === name && node.ready);

/**
 * How a Ready node with the host's name is another machine: the host does not have the node's address. Such a node must
 * not be deleted. undefined if the node is this host, is not Ready, or does not exist. Throws `FactError` when a fact
 * that it needs is unknown.
 */
export function nodeElsewhere(observed: Identity, { cluster }: Fleet): string | undefined {
  if (cluster.state !== 'up') return undefined;
  const node = readyNode(cluster, observed.host.name);
  if (node === undefined || node.internalAddress === '') return undefined;
  if (addressesOf(observed).includes(node.internalAddress)) return undefined;
  return `its node is Ready on another machine (${identityText(node.internalAddress, node.machineId)}), and this host is ${thisHost(observed)}`;
}

/**
 * How the Ready node with the host's name and address has another machine-id: the machine was reinstalled a moment ago,
 * or two machines share the address. undefined if there is no such node. Throws `FactError` when a fact that it needs
 * is unknown.
 */
export function nodeOfEarlierMachine(observed: Identity, fleet: Fleet): string | undefined {
  if (fleet.cluster.state !== 'up' || nodeElsewhere(observed, fleet) !== undefined) return undefined;
  const node = readyNode(fleet.cluster, observed.host.name);
  if (node === undefined || !hasAnotherMachineId(observed, node)) return undefined;
  return `node ${node.name} is Ready with machine-id ${node.machineId}, this host has ${machineIdOf(observed)}`;
}

/** The name of the Node object of this machine if it is not the host's name; undefined otherwise. */
export function nodeOfAnotherName(observed: Identity, { cluster }: Fleet): string | undefined {
  if (cluster.state !== 'up') return undefined;
  const here = addressesOf(observed);
  return cluster.nodes.find(
    (node) =>
      node.name !== observed.host.name &&
      here.includes(node.internalAddress) &&
      node.machineId !== '' &&
      node.machineId === machineIdOf(observed),
  )?.name;
}

/** The address in a member's peer URL; empty if it has none that can be read. */
export const peerAddress = ({ peerUrl }: MemberView): string => {
  try {
    return new URL(peerUrl).hostname.replace(/^\[|\]$/g, '');
  } catch {
    return '';
  }
};

/**
 * How the etcd member with the host's name runs on another machine: it is healthy, and the host does not have its peer
 * address. undefined otherwise. Throws `FactError` when a fact that it needs is unknown.
 */
export function memberElsewhere(observed: Identity, members: readonly MemberView[]): string | undefined {
  const { name } = observed.host;
  const member = members.find((candidate) => candidate.name === name && candidate.healthy);
  if (member === undefined || addressesOf(observed).includes(peerAddress(member))) return undefined;
  return `its etcd member ${member.id} is healthy on another machine (${peerAddress(member)}), and this host is ${thisHost(observed)}`;
}
