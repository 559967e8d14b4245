import { FactError, Refused } from '../errors.ts';
import type { MemberView } from '../etcd/view.facts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Fleet, Kinds, Observed } from './fleet/fleet.ts';
import type { LinuxFacts } from './fleet/linux.ts';
import type { ClusterUp, NodeView } from './fleet/view.ts';
import type { WindowsFacts } from './fleet/windows.ts';

/** A host (Linux or Windows) with its facts. A step's `Target` is one. */
export interface Identity {
  readonly host: Host;
  readonly facts: LinuxFacts | WindowsFacts;
}

/** The IP addresses on the host's interfaces. */
const addressesOf = ({ facts }: Identity): readonly string[] =>
  'interfaces' in facts
    ? facts.interfaces.flatMap(({ addresses }) => addresses)
    : facts.network.addresses.map(({ address }) => address);

/** /etc/machine-id of a Linux host, which the kubelet reports too; empty if the host has none. */
const machineIdOf = ({ facts }: Identity): string =>
  'machineId' in facts && facts.machineId !== 'absent' ? facts.machineId : '';

/** A machine in a message: `10.0.0.21, machine-id 0a1b…`. */
const identityText = (address: string, machineId: string): string =>
  `${address}${machineId === '' ? '' : `, machine-id ${machineId}`}`;

/** The host's machine in a message, by the address of the cluster's network if it has it. */
const thisHost = (observed: Identity): string =>
  identityText(
    addressesOf(observed).includes(observed.host.internalAddress)
      ? observed.host.internalAddress
      : observed.host.address,
    machineIdOf(observed),
  );

/** True if both are known and differ. */
const hasAnotherMachineId = (observed: Identity, { machineId }: NodeView): boolean =>
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
  return (
    `its node is Ready on another machine (${identityText(node.internalAddress, node.machineId)}), and this host ` +
    `is ${thisHost(observed)}`
  );
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
  return (
    `its etcd member ${member.id} is healthy on another machine (${peerAddress(member)}), and this host ` +
    `is ${thisHost(observed)}`
  );
}

const OVERRIDE = '--hostname-override=';

/**
 * The name with which the host's kubelet registers where nothing else says it: the flag that kubeadm gives it, or the
 * host's own name.
 */
function registeredName(observed: Observed): string {
  const { kubeletFlags } = observed.facts;
  const flag = kubeletFlags === 'absent' ? undefined : kubeletFlags.find((one) => one.startsWith(OVERRIDE));
  const { os, facts } = observed;
  return flag?.slice(OVERRIDE.length) ?? (os === 'linux' ? facts.hostname : facts.machine.hostname).toLowerCase();
}

/** The node that the kubelet's client certificate names; undefined if the host has none that can be read. */
const certifiedName = ({ os, facts }: Observed): string | undefined =>
  os === 'linux' && typeof facts.kubeletClient === 'object' ? facts.kubeletClient.node : undefined;

/** The etcd member that the host's own certificates are for; undefined if it has none. */
function certifiedMember({ host, facts }: Kinds['linux']): string | undefined {
  if (facts.etcdPki === 'not asked') return undefined;
  const names = facts.etcdPki.certificates.find(({ name }) => name === 'peer')?.names;
  return names === undefined || names.includes(host.name) ? undefined : names[0];
}

/** How a machine proves that it is another one than its host of the inventory, and which, where that is known. */
interface Proof {
  readonly why: string;
  /** The node or host that it is instead. */
  readonly other?: string | undefined;
}

/**
 * How the node with the host's name reports from another machine. Only one boot of one machine has a boot id: with it
 * neither a changed address nor a changed machine-id matters. A copy of a machine has its machine-id, and not the
 * address of a node that is Ready elsewhere.
 */
function reportedElsewhere(observed: Observed, node: NodeView): string | undefined {
  const { os, facts } = observed;
  if (os === 'linux' && node.bootId !== '' && node.bootId === facts.bootId) return undefined;
  if (hasAnotherMachineId(observed, node)) return 'its machine-id is another one';
  if (node.internalAddress === '' || addressesOf(observed).includes(node.internalAddress)) return undefined;
  const isSame = node.machineId !== '' && node.machineId === machineIdOf(observed);
  return node.ready || !isSame ? `it does not have the address ${node.internalAddress}` : undefined;
}

/** What contradicts that a kubelet's host is the machine of its node. */
function ofNode(observed: Observed, node: NodeView | undefined): Proof | undefined {
  const { name } = observed.host;
  const certified = certifiedName(observed);
  if (certified !== undefined && certified !== name)
    return { why: `its kubelet has the client certificate of node ${certified}`, other: certified };
  if (node !== undefined) {
    const why = reportedElsewhere(observed, node);
    return why === undefined ? undefined : { why };
  }
  const registered = certified ?? registeredName(observed);
  // Without the API and without a certificate, nothing else tells.
  return registered === name
    ? undefined
    : { why: `its kubelet registers as ${registered}, and has no certificate that can be read`, other: registered };
}

/** What contradicts that a host of role etcd is the machine of its member. */
function ofMember(observed: Kinds['linux'], { cluster }: Fleet): Proof | undefined {
  const etcd = cluster.etcd?.state === 'up' ? cluster.etcd : undefined;
  try {
    const other = certifiedMember(observed);
    if (other !== undefined) return { why: `its etcd has the certificate of member ${other}`, other };
  } catch (error) {
    // A certificate that is damaged must not keep its host in the cluster while etcd itself tells where the member is.
    if (!(error instanceof FactError) || etcd === undefined) throw error;
  }
  const elsewhere = memberElsewhere(observed, etcd?.members ?? []);
  return elsewhere === undefined ? undefined : { why: elsewhere };
}

function remedyOf(inventory: Inventory, { cluster }: Fleet, name: string, other: string | undefined): string {
  if (inventory.hosts.some((host) => host.name === other && other !== name))
    return `correct the addresses of ${name} and ${other!} in the inventory`;
  if (cluster.state === 'up' && cluster.nodes.some((node) => node.name === other))
    return `correct the address of ${name} in the inventory, or call this machine ${other!} there`;
  return (
    `correct the address of ${name} in the inventory; if this machine has taken the place of the other one (a ` +
    'disk from a backup, a new machine-id), switch the other one off and restart the kubelet here: the node ' +
    'tells then that it is this one'
  );
}

/**
 * Refuses a joined host whose machine proves to be another one than its node, or its etcd member: two hosts whose
 * addresses were exchanged, an address that another machine has by now, a copy of a machine. kbuild would drain one and
 * change the other. Without the API, the names in the host's own certificates decide. undefined if nothing contradicts.
 * Throws `FactError` when a fact that it needs is unknown.
 */
export function otherMachine(
  inventory: Inventory,
  fleet: Fleet,
  observed: Observed,
): Refused<'wrong-machine'> | undefined {
  const { host } = observed;
  if (host.role === 'load-balancer') return undefined;
  const node = fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === host.name) : undefined;
  const proof = host.role === 'etcd' && observed.os === 'linux' ? ofMember(observed, fleet) : ofNode(observed, node);
  if (proof === undefined) return undefined;
  const reported =
    node === undefined ? '' : `; node ${host.name} is ${identityText(node.internalAddress, node.machineId)}`;
  return new Refused(
    'wrong-machine',
    host.name,
    `the machine at ${host.address} is not ${host.name}: ${proof.why} (this machine is ` +
      `${thisHost(observed)}${reported})`,
    remedyOf(inventory, fleet, host.name, proof.other),
  );
}

/**
 * Refuses a half-finished host whose kubelet has the client certificate of another host or node: it is that one, and
 * must not be undone as this one. undefined otherwise. Throws `FactError` when a fact that it needs is unknown.
 */
export function certifiedAsAnother(
  inventory: Inventory,
  fleet: Fleet,
  observed: Observed,
): Refused<'wrong-machine'> | undefined {
  const certified = certifiedName(observed);
  if (certified === undefined || certified === observed.host.name) return undefined;
  const { cluster } = fleet;
  const nodes = cluster.state === 'up' ? cluster.nodes : [];
  return [...inventory.hosts, ...nodes].some(({ name }) => name === certified)
    ? otherMachine(inventory, fleet, observed)
    : undefined;
}
