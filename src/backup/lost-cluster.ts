import { isIP } from 'node:net';
import { shortFingerprint } from '../certificates/fingerprint.value.ts';
import { type Fleet, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import { Refused } from '../errors.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Manifest } from './manifest.ts';

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
    `${names.join(', ')} ${names.length === 1 ? 'is a node' : 'are nodes'} of a cluster already (CA ${shortFingerprint(first.facts.caFingerprint)}…), and no control plane of the inventory has one: a new cluster would shut ${names.length === 1 ? 'it' : 'them'} out for good`,
    `if the control planes are lost: \`kbuild restore BACKUP\` brings the cluster back; if no cluster needs ${names.length === 1 ? 'it' : 'them'}: \`kbuild reset --hosts ${names.join(',')}\` first`,
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
