import { renewerOf } from '../../certificates/expiry.ts';
import { type Fleet, type Observed, observedLinux } from '../../cluster/fleet/fleet.ts';
import type { ClusterView } from '../../cluster/fleet/view.ts';
import type { CheckedFinding } from '../../engine/check.ts';
import { changesIn, type PlannedChange, waitsIn } from '../../engine/plan.ts';
import { restartsOf } from '../../engine/restarts.ts';
import type { Phase } from '../../engine/step.ts';
import { ifKnown } from '../../errors.ts';
import type { PortMatrix, Way } from '../../host/ports.survey.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { runtimesInUse } from '../../runtime/runtimes.value.ts';
import { certificatesView } from '../certificates.ts';
import { clusterStatus } from '../status-view.ts';
import { type Note, RECORD_FORMAT, type RecordedSystem, type RecordHead } from './line.ts';

type NoteOf<K extends Note['kind']> = Extract<Note, { readonly kind: K }>;

/** The fields about the run itself in the first line of a record. */
type RunItself = Pick<RecordHead, 'time' | 'run' | 'process' | 'command' | 'kbuild' | 'inventory' | 'log'>;

/** The first line of a record. */
export function recordHead(inventory: Inventory, run: RunItself): RecordHead {
  const { loadBalancer } = inventory;
  const { kind } = loadBalancer;
  return {
    kind: 'run',
    format: RECORD_FORMAT,
    ...run,
    cluster: inventory.name,
    kubernetes: inventory.kubernetes.version,
    endpoint: inventory.endpoint,
    etcd: inventory.etcd.topology,
    loadBalancer:
      'address' in loadBalancer ? { kind, address: loadBalancer.address, port: loadBalancer.port } : { kind },
    network: inventory.network.plugin,
    runtime: runtimesInUse(inventory).join(', '),
    hosts: inventory.hosts.map(({ name, role, os, address, internalAddress, groups }) => ({
      name,
      role,
      os,
      address,
      internalAddress,
      groups,
    })),
  };
}

function systemOf(observed: Observed): RecordedSystem {
  const host = observed.host.name;
  if (observed.os === 'linux') {
    const { facts } = observed;
    return {
      host,
      system: ifKnown(() => facts.osRelease.prettyName, ''),
      kernel: ifKnown(() => facts.kernel, ''),
      architecture: ifKnown(() => facts.arch, ''),
    };
  }
  const machine = ifKnown(() => observed.facts.machine, undefined);
  if (machine === undefined) return { host, system: '', kernel: '', architecture: '' };
  const { caption, build, revision, architecture } = machine;
  return { host, system: caption, kernel: `${build}.${String(revision)}`, architecture };
}

/** The hosts that answered, and those that did not. */
export const hostsNote = ({ hosts, unreachable }: Pick<Fleet, 'hosts' | 'unreachable'>): NoteOf<'hosts-observed'> => ({
  kind: 'hosts-observed',
  hosts: hosts.map(systemOf),
  unreachable: unreachable.map(({ host, error }) => ({ host: host.name, message: error.message })),
});

/** The members of an etcd that is there before the API is. */
function etcdMembers({ etcd }: ClusterView): readonly NoteOf<'cluster-observed'>['etcd']['members'][number][] {
  if (etcd?.state !== 'up') return [];
  return etcd.members.map(({ name, id, peerUrl, learner, healthy, dbSize }) => ({
    name,
    id,
    peer: peerUrl,
    learner,
    healthy,
    dbSize,
  }));
}

function addressHolders({ loadBalancer }: Inventory, fleet: Fleet): readonly string[] {
  if (!('address' in loadBalancer)) return [];
  const { address } = loadBalancer;
  return observedLinux(fleet)
    .filter(({ facts }) => ifKnown(() => facts.interfaces, []).some(({ addresses }) => addresses.includes(address)))
    .map(({ host }) => host.name);
}

/** The cluster as its API and etcd show it. */
export function clusterNote(inventory: Inventory, fleet: Fleet): NoteOf<'cluster-observed'> {
  const { cluster } = fleet;
  const topology = inventory.etcd.topology === 'stacked' ? 'stacked' : 'external';
  const kind = 'cluster-observed';
  const holders = addressHolders(inventory, fleet);
  if (cluster.state === 'up') {
    const { version, nodes, apiServers, etcd } = clusterStatus(cluster, topology);
    const endpointAnswer = ifKnown(() => cluster.endpoint, '');
    return { kind, state: 'up', reason: '', version, endpointAnswer, nodes, apiServers, etcd, addressHolders: holders };
  }
  return {
    kind,
    state: cluster.state,
    reason: cluster.state === 'down' ? cluster.reason : '',
    version: '',
    endpointAnswer: '',
    nodes: [],
    apiServers: [],
    etcd: { topology, leader: '', members: etcdMembers(cluster), alarms: [] },
    addressHolders: holders,
  };
}

/** The certificates of all hosts, and the hosts whose certificates are not known. */
export function certificatesNote(inventory: Inventory, fleet: Fleet): NoteOf<'certificates-observed'> {
  const { certificates, unknown } = certificatesView(inventory, fleet, () => true);
  return {
    kind: 'certificates-observed',
    certificates: certificates.map(({ host, name, expires }) => ({
      host,
      name,
      expires,
      renewedBy: renewerOf(inventory, name),
    })),
    unknown,
  };
}

const placed = ({ phase, host, step, summary }: PlannedChange) => ({ phase, host, step, summary });

/** The plan of a run, before it starts. */
export const planNote = (
  inventory: Inventory,
  { phases, changes }: { readonly phases: readonly Phase[]; readonly changes: readonly PlannedChange[] },
): NoteOf<'plan'> => ({
  kind: 'plan',
  phases: phases.map(({ name, title, hosts }) => ({ name, title, hosts: hosts.map((host) => host.name) })),
  changes: changesIn(changes).map(placed),
  waits: waitsIn(changes).map(placed),
  restarts: restartsOf(inventory, changes),
});

/** The findings of the checks. */
export const findingsNote = (findings: readonly CheckedFinding[]): NoteOf<'findings'> => ({
  kind: 'findings',
  findings: findings.map(({ severity, check, page, host, message, remedy, ignored }) => ({
    severity,
    check,
    page,
    message,
    ...(host === undefined ? {} : { host }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(ignored === undefined ? {} : { ignored }),
  })),
});

const end = ({ to, port, protocol, program }: Way) => ({ to: to.name, port, protocol, program });

/** Pairs of hosts in the ways of a record: those between 300 hosts. More hosts have more pairs than a person reads. */
const MOST_PAIRS = 100_000;
const MOST_BLOCKED = 10_000;

const pairsOf = (ways: readonly Way[]): number => ways.reduce((sum, { from }) => sum + from.length, 0);

/** The first ways, as far as their pairs of hosts are not too many. */
function listedOf(ways: readonly Way[]): readonly Way[] {
  let pairs = 0;
  return ways.filter(({ from }) => (pairs += from.length) <= MOST_PAIRS);
}

/** The ways that were tried between hosts, and those that are blocked. */
export function portsNote(ways: readonly Way[], matrix: PortMatrix): NoteOf<'ports-surveyed'> {
  const listed = listedOf(ways);
  const blocked = matrix.blocked.slice(0, MOST_BLOCKED);
  const unlisted = { ways: pairsOf(ways) - pairsOf(listed), blocked: matrix.blocked.length - blocked.length };
  return {
    kind: 'ports-surveyed',
    ways: listed.map((way) => ({ ...end(way), from: way.from.map(({ name }) => name) })),
    blocked: blocked.map(({ way, from, how }) => ({ from: from.name, ...end(way), how })),
    narrow: matrix.narrow.map(({ from, to, mtu }) => ({ from: from.name, to: to.name, mtu })),
    unverified: matrix.unverified.map(({ to, port }) => ({ to: to.name, port })),
    ...(unlisted.ways + unlisted.blocked === 0 ? {} : { unlisted }),
    failed: matrix.failed.map(({ host, reason }) => ({ host: host.name, reason })),
  };
}
