import type { RecordedHost, RunRecord } from '../record/line.ts';
import { byKey, lineOf, linesOf } from './html.ts';

/** How a host stood at the end of the run. */
export type Standing = 'ready' | 'not ready' | 'failed' | 'unreachable' | 'not joined' | 'no node' | 'unknown';

/** A member of etcd, as it was observed. */
type Member = 'leader' | 'member' | 'learner' | 'not healthy';

/** A host in the picture of the cluster. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  readonly standing: Standing;
  /** Signs of trouble: conditions, cordons, an API server that is not ready. */
  readonly notes: readonly string[];
  /** Undefined: no member was observed on it. */
  readonly etcd: Member | undefined;
  readonly holdsAddress: boolean;
}

/** Workers of the same system and version. */
export interface Workers {
  readonly system: string;
  /** Of the kubelet, with `v`; empty: unknown. */
  readonly version: string;
  readonly machines: readonly Machine[];
}

/** The cluster as it was observed last. */
export interface ClusterView {
  readonly name: string;
  readonly state: 'absent' | 'down' | 'up' | 'unknown';
  readonly reason: string;
  readonly version: string;
  readonly endpoint: string;
  /** Empty: unknown. */
  readonly endpointAnswer: string;
  readonly etcd: 'stacked' | 'built' | 'external';
  readonly balancing: RunRecord['head']['loadBalancer'];
  readonly balancers: readonly Machine[];
  readonly controls: readonly Machine[];
  readonly etcdHosts: readonly Machine[];
  readonly workers: readonly Workers[];
  readonly network: string;
  readonly runtime: string;
  /** ISO 8601; undefined: the cluster was never observed. */
  readonly time: string | undefined;
}

type Observed = NonNullable<ReturnType<typeof lineOf<'cluster-observed'>>>;

function memberOf(observed: Observed | undefined, host: string): Member | undefined {
  const member = observed?.etcd.members.find(({ name }) => name === host);
  if (member === undefined) return undefined;
  if (!member.healthy) return 'not healthy';
  return member.learner ? 'learner' : observed?.etcd.leader === host ? 'leader' : 'member';
}

/** Hosts that failed in the run, and hosts that did not answer when they were observed last. */
interface Trouble {
  readonly failed: ReadonlySet<string>;
  readonly away: ReadonlySet<string>;
}

const troubleOf = (record: RunRecord): Trouble => ({
  failed: new Set(linesOf(record, 'failed').map(({ host }) => host)),
  away: new Set((lineOf(record, 'hosts-observed')?.unreachable ?? []).map(({ host }) => host)),
});

function standingOf({ failed, away }: Trouble, host: RecordedHost, observed: Observed | undefined): Standing {
  const isNode = host.role === 'control-plane' || host.role === 'worker';
  const node = observed?.nodes.find(({ name }) => name === host.name);
  if (failed.has(host.name)) return 'failed';
  if (away.has(host.name)) return 'unreachable';
  if (!isNode) return 'no node';
  if (observed?.state !== 'up') return observed?.state === 'absent' ? 'not joined' : 'unknown';
  return node === undefined ? 'not joined' : node.ready ? 'ready' : 'not ready';
}

function notesOf(observed: Observed | undefined, host: string): readonly string[] {
  const node = observed?.nodes.find(({ name }) => name === host);
  const answer = observed?.apiServers.find((api) => api.host === host)?.readyz ?? 'ok';
  const bad = node?.conditions.filter(({ type, status }) => type !== 'Ready' && status === 'True') ?? [];
  return [
    ...bad.map(({ type }) => type),
    ...(node?.cordoned === true ? ['cordoned'] : []),
    ...(answer === 'ok' ? [] : [`API server: ${answer}`]),
  ];
}

/** The hosts of the inventory, each with its last observation. Pure. */
export function clusterOf(record: RunRecord): ClusterView {
  const { head } = record;
  const observed = lineOf(record, 'cluster-observed');
  const systems = new Map((lineOf(record, 'hosts-observed')?.hosts ?? []).map(({ host, system }) => [host, system]));
  const trouble = troubleOf(record);
  const machine = (host: RecordedHost): Machine => ({
    name: host.name,
    address: host.internalAddress,
    standing: standingOf(trouble, host, observed),
    notes: notesOf(observed, host.name),
    etcd: memberOf(observed, host.name),
    holdsAddress: observed?.addressHolders.includes(host.name) === true,
  });
  const ofRole = (role: RecordedHost['role']): readonly Machine[] =>
    head.hosts.filter((host) => host.role === role).map(machine);
  const kind = ({ name, os }: RecordedHost): readonly [system: string, version: string] => {
    const node = observed?.nodes.find((one) => one.name === name);
    return [node?.os || systems.get(name) || (os === 'windows' ? 'Windows' : 'system unknown'), node?.version ?? ''];
  };
  const workers = byKey(
    head.hosts.filter(({ role }) => role === 'worker'),
    (host) => JSON.stringify(kind(host)),
  );
  return {
    name: head.cluster,
    state: observed?.state ?? 'unknown',
    reason: observed?.reason ?? '',
    version: observed?.version ?? '',
    endpoint: head.endpoint,
    endpointAnswer: observed?.endpointAnswer ?? '',
    etcd: head.etcd,
    balancing: head.loadBalancer,
    balancers: ofRole('load-balancer'),
    controls: ofRole('control-plane'),
    etcdHosts: ofRole('etcd'),
    workers: [...workers.values()].map((hosts) => {
      const [system, version] = kind(hosts[0]!);
      return { system, version, machines: hosts.map(machine) };
    }),
    network: head.network,
    runtime: head.runtime,
    time: observed?.time,
  };
}
