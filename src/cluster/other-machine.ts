import { FactError, Refused } from '../errors.ts';
import type { NodeView } from '../facts/cluster.ts';
import type { Fleet, Kinds, Observed } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import {
  addressesOf,
  hasAnotherMachineId,
  identityText,
  machineIdOf,
  memberElsewhere,
  thisHost,
} from './lives-elsewhere.ts';

const OVERRIDE = '--hostname-override=';

/** The name with which the host's kubelet registers where nothing else says it: the flag that kubeadm gives it, or the host's own name. */
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
 * How the node with the host's name reports from another machine. Only one boot of one machine has a boot id: with it neither a changed address
 * nor a changed machine-id matters. A copy of a machine has its machine-id, and not the address of a node that is Ready elsewhere.
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
  return `correct the address of ${name} in the inventory; if this machine has taken the place of the other one (a disk from a backup, a new machine-id), switch the other one off and restart the kubelet here: the node tells then that it is this one`;
}

/**
 * Refuses a joined host whose machine proves to be another one than its node, or its etcd member: two hosts whose addresses were exchanged, an
 * address that another machine has by now, a copy of a machine. kbuild would drain one and change the other. Without the API, the names
 * in the host's own certificates decide. undefined if nothing contradicts. Throws `FactError` when a fact that it needs is unknown.
 */
export function otherMachine(inventory: Inventory, fleet: Fleet, observed: Observed): Refused | undefined {
  const { host } = observed;
  if (host.role === 'load-balancer') return undefined;
  const node = fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === host.name) : undefined;
  const proof = host.role === 'etcd' && observed.os === 'linux' ? ofMember(observed, fleet) : ofNode(observed, node);
  if (proof === undefined) return undefined;
  const reported =
    node === undefined ? '' : `; node ${host.name} is ${identityText(node.internalAddress, node.machineId)}`;
  return new Refused(
    host.name,
    `the machine at ${host.address} is not ${host.name}: ${proof.why} (this machine is ${thisHost(observed)}${reported})`,
    remedyOf(inventory, fleet, host.name, proof.other),
  );
}

/**
 * Refuses a half-finished host whose kubelet has the client certificate of another host or node: it is that one, and must not be undone as this
 * one. undefined otherwise. Throws `FactError` when a fact that it needs is unknown.
 */
export function certifiedAsAnother(inventory: Inventory, fleet: Fleet, observed: Observed): Refused | undefined {
  const certified = certifiedName(observed);
  if (certified === undefined || certified === observed.host.name) return undefined;
  const { cluster } = fleet;
  const nodes = cluster.state === 'up' ? cluster.nodes : [];
  return [...inventory.hosts, ...nodes].some(({ name }) => name === certified)
    ? otherMachine(inventory, fleet, observed)
    : undefined;
}
