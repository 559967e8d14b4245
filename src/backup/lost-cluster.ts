import { shortFingerprint } from '../certificates/fingerprint.value.ts';
import { type Fleet, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import { reason, type Reason, type Seen } from '../cluster/reasons.ts';
import { standing } from '../cluster/standing.ts';
import { Refused } from '../errors.ts';
import { isIP } from '../inventory/addresses.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isInitFromBackup } from '../kubeadm/marker.facts.ts';
import { backupName, type Manifest } from './manifest.ts';

/** The workers of the inventory, by whether they belong to the cluster of a backup. */
export interface Workers {
  /** Their kubelets trust the backup's CA: they rejoin by themselves. */
  readonly own: readonly string[];
  /** Nodes of another cluster. */
  readonly others: readonly string[];
  /** Not observed. */
  readonly unknown: readonly string[];
}

/** The workers of the inventory by the CA that their kubelets trust. Throws `FactError` when that is unknown. */
export function workersOf(inventory: Inventory, fleet: Fleet, { ca }: Manifest): Workers {
  const workers = fleet.hosts.filter(({ host }) => host.role === 'worker');
  const nodes = workers.filter(({ facts }) => facts.caFingerprint !== 'absent');
  const namesOf = (list: typeof nodes): readonly string[] => list.map(({ host }) => host.name);
  return {
    own: namesOf(nodes.filter(({ facts }) => facts.caFingerprint === ca)),
    others: namesOf(nodes.filter(({ facts }) => facts.caFingerprint !== ca)),
    unknown: fleet.unreachable.filter(({ host }) => host.role === 'worker').map(({ host }) => host.name),
  };
}

const KUBELET_CONF = '/etc/kubernetes/kubelet.conf';

/**
 * Refuses to create a cluster if every observed worker is already a node of another one: the control planes of that
 * cluster are lost, and a new cluster at the same endpoint would have another CA, so that no worker could rejoin.
 * Returns undefined otherwise. Throws `FactError` when a fact that it needs is unknown.
 */
export function lostCluster(inventory: Inventory, fleet: Fleet): Refused | undefined {
  if (fleet.cluster.state !== 'absent') return undefined;
  // A control plane that was not observed may hold the cluster.
  if (controlPlanes(inventory).some((host) => linuxFacts(fleet, host) === undefined)) return undefined;
  const workers = observedLinux(fleet).filter(({ host }) => host.role === 'worker');
  const isNode = ({ host, facts }: (typeof workers)[number]): boolean =>
    facts.kubernetesTraces.has(KUBELET_CONF) &&
    facts.caFingerprint !== 'absent' &&
    standing({ inventory, host, facts, fleet }) === 'foreign';
  const [first] = workers;
  if (first === undefined || !workers.every(isNode)) return undefined;
  const names = workers.map(({ host }) => host.name);
  if (new Set(workers.map(({ facts }) => facts.caFingerprint)).size > 1) return undefined;
  return new Refused(
    'control-planes-lost',
    inventory.name,
    `${names.join(', ')} ${names.length === 1 ? 'is a node' : 'are nodes'} of a cluster already (CA ` +
      `${shortFingerprint(first.facts.caFingerprint)}…), and no control plane of the inventory has one: a new ` +
      `cluster would shut ${names.length === 1 ? 'it' : 'them'} out for good`,
    'if the control planes are lost: `kbuild restore BACKUP` brings the cluster back; if no cluster needs ' +
      `${names.length === 1 ? 'it' : 'them'}: \`kbuild reset --hosts ${names.join(',')}\` first`,
  );
}

/** An address of a lost control plane at which a member of etcd or an API server may still run. */
interface OldAddress {
  readonly name: string;
  readonly address: string;
}

/** Addresses of the backup's control planes and members that none of the observed hosts has. */
export function oldAddresses(fleet: Fleet, { controlPlanes: controls, etcd }: Manifest): readonly OldAddress[] {
  const here = new Set(
    observedLinux(fleet).flatMap(({ host, facts }) => [
      host.address,
      host.internalAddress,
      ...facts.interfaces.flatMap(({ addresses }) => addresses),
    ]),
  );
  const all = [
    ...controls,
    ...etcd.members.flatMap(({ name, peerUrl }) => {
      try {
        return [{ name, address: new URL(peerUrl).hostname.replace(/^\[|\]$/g, '') }];
      } catch {
        return [];
      }
    }),
  ];
  return [
    ...new Map(
      all.filter(({ address }) => isIP(address) !== 0 && !here.has(address)).map((one) => [one.address, one]),
    ).values(),
  ];
}

/**
 * Names of the Node objects of lost control planes: their machines are gone, and other machines may get their names.
 * Throws `FactError` when a fact that it needs is unknown.
 */
export function lostNodes(inventory: Inventory, fleet: Fleet, manifest: Manifest): readonly string[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  return manifest.controlPlanes
    .map(({ name }) => name)
    .filter((name) => cluster.nodes.some((node) => node.name === name))
    .filter((name) => {
      const host = inventory.hosts.find((one) => one.name === name);
      if (host === undefined) return true;
      if (host.os !== 'linux' || host.role !== 'control-plane') return false;
      const facts = linuxFacts(fleet, host);
      return facts !== undefined && ['bare', 'prepared'].includes(standing({ inventory, host, facts, fleet }));
    });
}

/** What a restore has observed. */
interface Restoring extends Seen {
  readonly manifest: Manifest;
  /** The backups of which control planes are noted to come, by their names. */
  readonly notes: readonly string[];
  /** Whether the API of this restore answered in an earlier observation; undefined: this is the first one. */
  readonly was: 'served' | 'not served' | undefined;
}

const isFromBackup = ({ manifest, notes }: Restoring): boolean =>
  notes.some((note) => note.startsWith(backupName(manifest)));

/** True if the API that answers is that of the cluster which this backup brought back. */
export const isBroughtBack = (seen: Restoring): boolean => {
  const { cluster } = seen.fleet;
  return cluster.state === 'up' && cluster.caFingerprint === seen.manifest.ca && isFromBackup(seen);
};

/** Why a backup cannot become the cluster, by the API of the inventory's control planes. */
export const apiReasons: readonly Reason<Restoring>[] = [
  reason(['cluster-down'], (seen) => {
    const { inventory, fleet } = seen;
    if (fleet.cluster.state !== 'down' || !isFromBackup(seen)) return undefined;
    // A restore that was cut off goes on.
    if (observedLinux(fleet).some(({ facts }) => isInitFromBackup(facts.marker))) return undefined;
    return new Refused(
      'cluster-down',
      inventory.name,
      `it was brought back from this backup, and its API does not answer (${fleet.cluster.reason})`,
      'run the same command again when it answers, within minutes after a host has started; `kbuild status` says ' +
        'what is wrong',
    );
  }),
  reason(['nothing-lost'], (seen) => {
    const { inventory, fleet } = seen;
    if (fleet.cluster.state !== 'up' || isBroughtBack(seen)) return undefined;
    return new Refused(
      'nothing-lost',
      inventory.name,
      `its API answers through ${fleet.cluster.via}: the control planes are not lost`,
      'to put a live cluster back to an earlier state: `kbuild etcd snapshot restore SNAPSHOT`',
    );
  }),
  reason(
    ['changed-meanwhile'],
    (seen) =>
      seen.was === 'not served' &&
      isBroughtBack(seen) &&
      new Refused(
        'changed-meanwhile',
        seen.inventory.name,
        'another run has brought it back from this backup meanwhile',
        'run the same command again: it goes on from there',
      ),
  ),
];

/** What listens at addresses of the backup's control planes, as `name (address:port)`, seen from one host. */
interface Living {
  readonly inventory: Inventory;
  readonly living: readonly string[];
  readonly from: string;
}

/** Why a backup cannot become the cluster while its old control planes run. */
export const livingReasons: readonly Reason<Living>[] = [
  reason(
    ['control-plane-lives'],
    ({ inventory, living, from }) =>
      living.length > 0 &&
      new Refused(
        'control-plane-lives',
        inventory.name,
        `something listens where the backup has control planes: ${living.join(', ')}, as seen from ${from}`,
        'switch it off for good, or name it in the inventory: two control planes would each take writes. If ' +
          'another machine has the address by now, give it another one first',
      ),
  ),
];
