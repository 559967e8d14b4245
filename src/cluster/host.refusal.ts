import { anotherAuthority } from '../certificates/authority.refusal.ts';
import { shortFingerprint } from '../certificates/fingerprint.value.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { moveRefusal, runtimeRefusal } from '../runtime/runtime-change.ts';
import type { Fleet, Observed } from './fleet/fleet.ts';
import { certifiedAsAnother, memberElsewhere, nodeElsewhere, nodeOfAnotherName, otherMachine } from './identity.ts';
import { isNodeGone } from './nodes.ts';
import { lastReason, type Reason, reason, refusedFor, type Seen } from './reasons.ts';
import { cleaningAdvice } from './running-programs.ts';
import { clusterCas, clusterNameOf, evidenceOfService, standing } from './standing.ts';
import { casOf, clustersOf, shareCa } from './standings.ts';

/** Roles whose CA may be the cluster's: two CAs among them mean that the inventory mixes two clusters. */
const HOLDS_CLUSTER: ReadonlySet<string> = new Set(['control-plane', 'etcd']);

const severalCas: Reason<Seen> = lastReason(['several-clusters'], ({ inventory, fleet }) => {
  const holders = fleet.hosts
    .filter(({ host, facts }) => HOLDS_CLUSTER.has(host.role) && facts.caFingerprint !== 'absent')
    .map(({ host, facts }) => ({ name: host.name, cas: casOf(facts) }));
  const clusters = clustersOf(holders);
  if (clusters.length < 2) return undefined;
  const held = clusters
    .map(
      ({ cas, members }) =>
        `${members.map(({ name }) => name).join(', ')}: ${cas.map(shortFingerprint).join('… and ')}…`,
    )
    .join('; ');
  return new Refused(
    'several-clusters',
    inventory.name,
    `the hosts belong to ${String(clusters.length)} clusters, by the public keys of their CAs (${held})`,
    'take the hosts of the other cluster out of the inventory',
  );
});

const adoption: Reason<Seen> = reason(['adopted-ca'], ({ inventory, fleet }) => {
  const { adopt } = inventory.kubernetes;
  const cas = clusterCas(fleet);
  if (adopt === undefined || cas.size === 0 || cas.has(adopt)) return undefined;
  return new Refused(
    'adopted-ca',
    inventory.name,
    `kubernetes.adopt names CA ${adopt}, the cluster has ${[...cas].join(' and ')}`,
    'set kubernetes.adopt to the fingerprint of the cluster that you mean, or remove it',
  );
});

const anotherName: Reason<Seen> = reason(['other-cluster'], ({ inventory, fleet: { cluster } }) => {
  if (cluster.state !== 'up' || cluster.name === inventory.name) return undefined;
  if (casOf(cluster).some((ca) => ca === inventory.kubernetes.adopt)) return undefined;
  return new Refused(
    'other-cluster',
    inventory.name,
    `the cluster that answers on ${cluster.via} is called "${cluster.name}", this inventory is "${inventory.name}"`,
    `use the inventory of "${cluster.name}", or set kubernetes.adopt: ${cluster.caFingerprint} to take that ` +
      'cluster over',
  );
});

/** Why no command may change any host: the cluster's CA or name is not the inventory's. */
export const clusterReasons: readonly Reason<Seen>[] = [
  severalCas,
  adoption,
  reason(['authority-changed'], ({ inventory, fleet }) => anotherAuthority(inventory, fleet)),
  anotherName,
];

/**
 * Why no command may change any host: the cluster's CA or name is not the inventory's. Throws `FactError` when a fact
 * that it needs is unknown.
 */
export const clusterRefusals = (inventory: Inventory, fleet: Fleet): readonly Refused[] =>
  refusedFor(clusterReasons, { inventory, fleet });

function foreign(inventory: Inventory, fleet: Fleet, observed: Observed) {
  const { host, facts } = observed;
  const clean = cleaningAdvice(observed, `kbuild reset --hosts ${host.name}`);
  const told = clusterNameOf(facts);
  if (told !== undefined && told !== inventory.name)
    return new Refused(
      'other-cluster',
      host.name,
      `it belongs to the cluster "${told}", this inventory is "${inventory.name}"`,
      `use the inventory of "${told}", or set kubernetes.adopt: ${facts.caFingerprint} to take that cluster ` +
        `over; else ${clean}`,
    );
  const cas = clusterCas(fleet);
  if (cas.size > 0 && facts.caFingerprint !== 'absent' && !shareCa(casOf(facts), cas))
    return new Refused(
      'other-cluster',
      host.name,
      `it belongs to another cluster (CA ${shortFingerprint(facts.caFingerprint)}…, ${inventory.name} has ` +
        `${[...cas].map(shortFingerprint).join('… and ')}…)`,
      clean,
    );
  const { marker } = facts;
  if (typeof marker === 'object' && marker.cluster === inventory.name) {
    const why = evidenceOfService({ inventory, host, facts, fleet }) ?? `its marker says ${marker.stage}`;
    return new Refused(
      'unfinished-action',
      host.name,
      `an unfinished ${marker.action} of ${inventory.name} lies here, and kbuild does not undo it: ${why}`,
      'finish it with the command that began it, or bring the control plane of the cluster back, and run the ' +
        'same command again',
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
export function foreignHost(
  inventory: Inventory,
  fleet: Fleet,
  observed: Observed,
): ReturnType<typeof foreign> | undefined {
  const { host, facts } = observed;
  const isForeign = standing({ inventory, host, facts, fleet }) === 'foreign' || isOfAnotherCa(fleet, observed);
  return isForeign ? foreign(inventory, fleet, observed) : undefined;
}

/** Refuses a machine whose node has another name than the inventory's: it would register twice. */
function renamedHost({ name: cluster }: Inventory, fleet: Fleet, observed: Observed) {
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
 * Refuses a host whose Node or etcd member runs on another machine: kbuild must neither delete it as this host's
 * leftover, nor drain it and change this host.
 */
function mistakenHost(inventory: Inventory, fleet: Fleet, observed: Observed) {
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

/** What a host is refused for, by every command that changes it. */
export const HOST_REFUSALS = [
  'other-cluster',
  'unfinished-action',
  'foreign-leftovers',
  'host-renamed',
  'wrong-machine',
  'node-elsewhere',
  'runtime-changed',
] as const;
type HostRefusal = (typeof HOST_REFUSALS)[number];

/**
 * Why no command may change this host; undefined if commands may. Throws `FactError` when a fact that it needs is
 * unknown.
 */
export const hostRefusal = (
  inventory: Inventory,
  fleet: Fleet,
  observed: Observed,
  moving: Moving = 'moves none',
): Refused<HostRefusal> | undefined =>
  foreignHost(inventory, fleet, observed) ??
  mistakenHost(inventory, fleet, observed) ??
  (moving === 'moves none' ? runtimeRefusal : moveRefusal)(inventory, observed);

/** Hosts that a command changes. */
export interface Changing extends Seen {
  readonly names: readonly string[];
  readonly moving: Moving;
}

/** What every command refuses that changes hosts. */
export const changeReasons: readonly Reason<Changing>[] = [
  ...clusterReasons,
  reason(HOST_REFUSALS, ({ inventory, fleet, names, moving }) =>
    fleet.hosts
      .filter(({ host }) => names.includes(host.name))
      .flatMap((observed) => hostRefusal(inventory, fleet, observed, moving) ?? []),
  ),
];

/**
 * Why a command may not change these hosts of the inventory, all reasons at once; empty if it may. Every command that
 * changes hosts calls this first. Throws `FactError` when a fact that it needs is unknown.
 */
export const changeRefusals = (
  inventory: Inventory,
  fleet: Fleet,
  names: readonly string[],
  moving: Moving = 'moves none',
): readonly Refused[] => refusedFor(changeReasons, { inventory, fleet, names, moving });
