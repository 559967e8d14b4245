import type { ClusterUp, MemberView, NodeView } from '../facts/cluster.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { WindowsFacts } from '../facts/windows.ts';
import type { Host } from '../model/inventory.ts';

/** A host of either system with what was seen on it; a step's `Target` is one. */
export interface Identity {
  readonly host: Host;
  readonly facts: LinuxFacts | WindowsFacts;
}

/** The addresses that the host has on its interfaces. */
const addressesOf = ({ facts }: Identity): readonly string[] =>
  'interfaces' in facts
    ? facts.interfaces.flatMap(({ addresses }) => addresses)
    : facts.network.addresses.map(({ address }) => address);

/** /etc/machine-id of a Linux host; empty where there is none. The kubelet reports the same file. */
const machineIdOf = ({ facts }: Identity): string =>
  'machineId' in facts && facts.machineId !== 'absent' ? facts.machineId : '';

const inWords = (address: string, machineId: string): string =>
  `${address}${machineId === '' ? '' : `, machine-id ${machineId}`}`;

const thisHost = (observed: Identity): string =>
  inWords(
    addressesOf(observed).includes(observed.host.internalAddress)
      ? observed.host.internalAddress
      : observed.host.address,
    machineIdOf(observed),
  );

const hasAnotherMachineId = (observed: Identity, { machineId }: NodeView): boolean =>
  machineId !== '' && machineIdOf(observed) !== '' && machineId !== machineIdOf(observed);

const readyNode = ({ nodes }: ClusterUp, name: string): NodeView | undefined =>
  nodes.find((node) => node.name === name && node.ready);

/**
 * The Ready node of the host's name, where its address is not the host's: another machine bears the name, and its node must not
 * be deleted. In words that name both sides; undefined where the node is this host's, not Ready, or not there. Throws `FactError`
 * when a fact that it needs is not known.
 */
export function nodeElsewhere(observed: Identity, { cluster }: Fleet): string | undefined {
  if (cluster.state !== 'up') return undefined;
  const node = readyNode(cluster, observed.host.name);
  if (node === undefined || node.internalAddress === '') return undefined;
  if (addressesOf(observed).includes(node.internalAddress)) return undefined;
  return `its node is Ready on another machine (${inWords(node.internalAddress, node.machineId)}), and this host is ${thisHost(observed)}`;
}

/**
 * The Ready node of the host's name and address, where its machine-id is another: the machine was installed anew a moment ago, or
 * two machines share the address. In words; undefined where there is none. Throws `FactError` when a fact that it needs is not
 * known.
 */
export function nodeOfEarlierMachine(observed: Identity, fleet: Fleet): string | undefined {
  if (fleet.cluster.state !== 'up' || nodeElsewhere(observed, fleet) !== undefined) return undefined;
  const node = readyNode(fleet.cluster, observed.host.name);
  if (node === undefined || !hasAnotherMachineId(observed, node)) return undefined;
  return `node ${node.name} is Ready with machine-id ${node.machineId}, this host has ${machineIdOf(observed)}`;
}

/** The node under which the cluster knows this machine, where that is not the host's name; undefined where there is none. */
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

const peerAddress = ({ peerUrl }: MemberView): string => {
  try {
    return new URL(peerUrl).hostname.replace(/^\[|\]$/g, '');
  } catch {
    return '';
  }
};

/**
 * The etcd member of the host's name that is healthy while its peers reach it at an address that the host does not have, in words
 * that name both sides; undefined where there is none. Throws `FactError` when a fact that it needs is not known.
 */
export function memberElsewhere(observed: Identity, members: readonly MemberView[]): string | undefined {
  const { name } = observed.host;
  const member = members.find((one) => one.name === name && one.healthy);
  if (member === undefined || addressesOf(observed).includes(peerAddress(member))) return undefined;
  return `its etcd member ${member.id} is healthy on another machine (${peerAddress(member)}), and this host is ${thisHost(observed)}`;
}
