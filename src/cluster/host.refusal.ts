import { anotherAuthority } from '../certificates/authority.refusal.ts';
import { shortFingerprint } from '../certificates/fingerprint.value.ts';
import { FactError, Refused } from '../errors.ts';
import type { MemberView } from '../etcd/view.facts.ts';
import { selects } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { moveRefusal, runtimeRefusal } from '../runtime/runtime-change.ts';
import type { Fleet, Observed } from './fleet/fleet.ts';
import { isControlPlane } from './fleet/joined.ts';
import {
  certifiedAsAnother,
  memberElsewhere,
  nodeElsewhere,
  nodeOfAnotherName,
  otherMachine,
  peerAddress,
} from './identity.ts';
import { isNodeGone } from './nodes.ts';
import { cleaningAdvice } from './running-programs.ts';
import { clusterCas, clusterNameOf, evidenceOfService, standing } from './standing.ts';
import { casOf, clustersOf, shareCa } from './standings.ts';

const NODE_IP = '--node-ip=';

/** The address with which the host's kubelet reports its node; undefined if it has no such argument: kbuild did not join it. */
function kubeletAddress({ facts }: Observed): string | undefined {
  if (facts.kubeletFlags === 'absent') return undefined;
  return facts.kubeletFlags.find((flag) => flag.startsWith(NODE_IP))?.slice(NODE_IP.length);
}

/** The address at which the other etcd members reach the host's member; undefined if it has none, or etcd does not answer. */
function memberAddress({ host }: Observed, { cluster }: Fleet): string | undefined {
  if (host.role === 'worker' || host.role === 'load-balancer') return undefined;
  const members: readonly MemberView[] =
    cluster.etcd?.state === 'up' ? cluster.etcd.members : cluster.state === 'up' ? cluster.members : [];
  const member = members.find(({ name }) => name === host.name);
  return member === undefined ? undefined : peerAddress(member);
}

/**
 * Why `up` does not change a joined host: the inventory gives it another internalAddress than the one with which it joined. kubelet, etcd, API
 * server, certificates and network plugin each hold that address, and etcd's members know it, so the kubelet alone must not get the other
 * one. undefined if the address is the same. Throws `FactError` when a fact that it needs is unknown.
 */
export function addressRefusal(inventory: Inventory, fleet: Fleet, observed: Observed): Refused | undefined {
  const { host, facts } = observed;
  if (standing({ inventory, host, facts, fleet }) !== 'joined') return undefined;
  const joined = [kubeletAddress(observed), memberAddress(observed, fleet)].find(
    (address) => address !== undefined && address !== '' && address !== host.internalAddress,
  );
  if (joined === undefined) return undefined;
  return new Refused(
    'address-changed',
    host.name,
    `it joined ${inventory.name} with the address ${joined}, and the inventory says ${host.internalAddress}`,
    `set its internalAddress back. To give it another one: \`kbuild remove ${host.name}\`, then edit it, then \`kbuild up\``,
  );
}

/** Roles whose CA may be the cluster's: two CAs among them mean that the inventory mixes two clusters. */
const HOLDS_CLUSTER: ReadonlySet<string> = new Set(['control-plane', 'etcd']);

function severalCas(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const holders = fleet.hosts
    .filter(({ host, facts }) => HOLDS_CLUSTER.has(host.role) && facts.caFingerprint !== 'absent')
    .map(({ host, facts }) => ({ name: host.name, cas: casOf(facts) }));
  const clusters = clustersOf(holders);
  if (clusters.length < 2) return [];
  const held = clusters
    .map(
      ({ cas, members }) =>
        `${members.map(({ name }) => name).join(', ')}: ${cas.map(shortFingerprint).join('… and ')}…`,
    )
    .join('; ');
  return [
    new Refused(
      'several-clusters',
      inventory.name,
      `the hosts belong to ${String(clusters.length)} clusters, by the public keys of their CAs (${held})`,
      'take the hosts of the other cluster out of the inventory',
    ),
  ];
}

function adoption(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const { adopt } = inventory.kubernetes;
  const cas = clusterCas(fleet);
  if (adopt === undefined || cas.size === 0 || cas.has(adopt)) return [];
  return [
    new Refused(
      'adopted-ca',
      inventory.name,
      `kubernetes.adopt names CA ${adopt}, the cluster has ${[...cas].join(' and ')}`,
      'set kubernetes.adopt to the fingerprint of the cluster that you mean, or remove it',
    ),
  ];
}

function anotherName(inventory: Inventory, { cluster }: Fleet): readonly Refused[] {
  if (cluster.state !== 'up' || cluster.name === inventory.name) return [];
  if (casOf(cluster).some((ca) => ca === inventory.kubernetes.adopt)) return [];
  return [
    new Refused(
      'other-cluster',
      inventory.name,
      `the cluster that answers on ${cluster.via} is called "${cluster.name}", this inventory is "${inventory.name}"`,
      `use the inventory of "${cluster.name}", or set kubernetes.adopt: ${cluster.caFingerprint} to take that cluster over`,
    ),
  ];
}

/**
 * Why no command may change any host: the cluster's CA or name is not the inventory's. Throws `FactError` when a fact
 * that it needs is unknown.
 */
export function clusterRefusals(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const several = severalCas(inventory, fleet);
  if (several.length > 0) return several;
  return [...adoption(inventory, fleet), ...anotherAuthority(inventory, fleet), ...anotherName(inventory, fleet)];
}

function foreign(inventory: Inventory, fleet: Fleet, observed: Observed): Refused {
  const { host, facts } = observed;
  const clean = cleaningAdvice(observed, `kbuild reset --hosts ${host.name}`);
  const told = clusterNameOf(facts);
  if (told !== undefined && told !== inventory.name)
    return new Refused(
      'other-cluster',
      host.name,
      `it belongs to the cluster "${told}", this inventory is "${inventory.name}"`,
      `use the inventory of "${told}", or set kubernetes.adopt: ${facts.caFingerprint} to take that cluster over; else ${clean}`,
    );
  const cas = clusterCas(fleet);
  if (cas.size > 0 && facts.caFingerprint !== 'absent' && !shareCa(casOf(facts), cas))
    return new Refused(
      'other-cluster',
      host.name,
      `it belongs to another cluster (CA ${shortFingerprint(facts.caFingerprint)}…, ${inventory.name} has ${[...cas].map(shortFingerprint).join('… and ')}…)`,
      clean,
    );
  const { marker } = facts;
  if (typeof marker === 'object' && marker.cluster === inventory.name) {
    const why = evidenceOfService({ inventory, host, facts, fleet }) ?? `its marker says ${marker.stage}`;
    return new Refused(
      'unfinished-action',
      host.name,
      `an unfinished ${marker.action} of ${inventory.name} lies here, and kbuild does not undo it: ${why}`,
      'finish it with the command that began it, or bring the control plane of the cluster back, and run the same command again',
    );
  }
  const traces = [...facts.kubernetesTraces].slice(0, 4).join(', ');
  const more = facts.kubernetesTraces.size > 4 ? ', …' : '';
  return new Refused(
    'foreign-leftovers',
    host.name,
    `it holds leftovers of a cluster that kbuild does not know (${traces}${more})`,
    clean,
  );
}

/** True for a worker with a marker of this cluster and the CA of another: the cluster's name alone proves nothing. */
function isOfAnotherCa(fleet: Fleet, { host, facts }: Observed): boolean {
  const cas = clusterCas(fleet);
  return host.role === 'worker' && facts.caFingerprint !== 'absent' && cas.size > 0 && !shareCa(casOf(facts), cas);
}

/**
 * Why only `reset`, after the operator typed the host's name, may change this host: its data is foreign. undefined if
 * the host is empty or belongs to this cluster. Throws `FactError` when a fact that it needs is unknown.
 */
export function foreignHost(inventory: Inventory, fleet: Fleet, observed: Observed): Refused | undefined {
  const { host, facts } = observed;
  const isForeign = standing({ inventory, host, facts, fleet }) === 'foreign' || isOfAnotherCa(fleet, observed);
  return isForeign ? foreign(inventory, fleet, observed) : undefined;
}

/** Refuses a machine whose node has another name than the inventory's: it would register twice. */
function renamedHost({ name: cluster }: Inventory, fleet: Fleet, observed: Observed): Refused | undefined {
  const { host } = observed;
  const node = nodeOfAnotherName(observed, fleet);
  if (node === undefined) return undefined;
  return new Refused(
    'host-renamed',
    host.name,
    `${cluster} knows this machine as ${node}`,
    `call it ${node} in the inventory; to give it the name ${host.name}, run \`kbuild remove ${node}\` first`,
  );
}

/**
 * Refuses a host whose Node or etcd member runs on another machine: kbuild must neither delete it as this host's leftover, nor drain it and
 * change this host.
 */
function mistakenHost(inventory: Inventory, fleet: Fleet, observed: Observed): Refused | undefined {
  const { host, facts } = observed;
  const { cluster } = fleet;
  if (standing({ inventory, host, facts, fleet }) === 'joined')
    return (
      (isNodeGone({ inventory, host, facts, fleet }) ? renamedHost(inventory, fleet, observed) : undefined) ??
      otherMachine(inventory, fleet, observed)
    );
  const etcd = cluster.etcd?.state === 'up' ? cluster.etcd : cluster.state === 'up' ? cluster : { members: [] };
  const elsewhere =
    nodeElsewhere(observed, fleet) ?? (host.role === 'worker' ? undefined : memberElsewhere(observed, etcd.members));
  if (elsewhere === undefined) return certifiedAsAnother(inventory, fleet, observed);
  return new Refused(
    'node-elsewhere',
    host.name,
    elsewhere,
    `correct the address of ${host.name} in the inventory, or give this host another name there`,
  );
}

/** Whether a command brings joined hosts to the runtime that the inventory names, as `up` does. */
export type Moving = 'moves runtimes' | 'moves none';

/**
 * Why no command may change this host; undefined if commands may. Throws `FactError` when a fact that it needs is
 * unknown.
 */
export const hostRefusal = (
  inventory: Inventory,
  fleet: Fleet,
  observed: Observed,
  moving: Moving = 'moves none',
): Refused | undefined =>
  foreignHost(inventory, fleet, observed) ??
  mistakenHost(inventory, fleet, observed) ??
  (moving === 'moves none' ? runtimeRefusal : moveRefusal)(inventory, observed);

/**
 * Why a command may not change these hosts of the inventory, all reasons at once; empty if it may. Every command that
 * changes hosts calls this first. Throws `FactError` when a fact that it needs is unknown.
 */
export function changeRefusals(
  inventory: Inventory,
  fleet: Fleet,
  names: readonly string[],
  moving: Moving = 'moves none',
): readonly Refused[] {
  const several = severalCas(inventory, fleet);
  if (several.length > 0) return several;
  const about = fleet.hosts.filter(({ host }) => names.includes(host.name));
  return [
    ...clusterRefusals(inventory, fleet),
    ...about.flatMap((observed) => hostRefusal(inventory, fleet, observed, moving) ?? []),
  ];
}

export interface LeftOut {
  readonly host: Host;
  readonly error: Error;
}

/**
 * Why `up` does not change a joined host: the inventory gives it another role than it has. undefined if the role is the
 * same. Throws `FactError` when a fact that it needs is unknown.
 */
function roleRefusal(inventory: Inventory, fleet: Fleet, { host, facts }: Observed): Refused | undefined {
  if (host.role !== 'control-plane' && host.role !== 'worker') return undefined;
  const is = isControlPlane(facts.kubernetesTraces) ? 'control-plane' : 'worker';
  if (is === host.role || standing({ inventory, host, facts, fleet }) !== 'joined') return undefined;
  const call = (role: string): string => role.replace('-', ' ');
  return new Refused(
    'role-changed',
    host.name,
    `it is a ${call(is)} of ${inventory.name}, and the inventory calls it a ${call(host.role)}`,
    `set its role back, or run \`kbuild remove ${host.name}\` and then \`kbuild up\``,
  );
}

/** Why `up` does not change a joined host: it joined with another role or address. Throws `FactError` when a fact that it needs is unknown. */
export const joinedRefusal = (inventory: Inventory, fleet: Fleet, observed: Observed): Refused | undefined =>
  roleRefusal(inventory, fleet, observed) ?? addressRefusal(inventory, fleet, observed);

/**
 * The workers among `hosts` (patterns) that `up` leaves out while it changes the other hosts: refused workers, and
 * those for which an unknown fact prevents a decision.
 */
export function refusedWorkers(
  inventory: Inventory,
  fleet: Fleet,
  hosts: readonly string[] | undefined,
): readonly LeftOut[] {
  return fleet.hosts
    .filter(({ host }) => host.role === 'worker' && selects(hosts, host.name))
    .flatMap((observed): readonly LeftOut[] => {
      try {
        const error =
          hostRefusal(inventory, fleet, observed, 'moves runtimes') ?? joinedRefusal(inventory, fleet, observed);
        return error === undefined ? [] : [{ host: observed.host, error }];
      } catch (error) {
        if (error instanceof FactError && error.host === observed.host.name) return [{ host: observed.host, error }];
        throw error;
      }
    });
}
