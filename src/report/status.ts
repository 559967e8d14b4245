import { daysLeft } from '../certificates/validity.value.ts';
import type { Problem } from '../cluster/health.ts';
import { table } from './text.ts';
import { areMixed, type HostVersions, versionRows } from './versions.ts';

/** `kbuild status` as `cli.md` promises it to scripts. */
export interface Status {
  readonly cluster: string;
  /** Empty where no cluster answers. */
  readonly version: string;
  readonly endpoint: string;
  /** True exactly where there are no problems. */
  readonly healthy: boolean;
  /** Why the cluster is not healthy. */
  readonly problems: readonly Problem[];
  /** Future problems, in one line each. */
  readonly warnings: readonly string[];
  readonly nodes: readonly {
    readonly name: string;
    readonly role: string;
    readonly ready: boolean;
    readonly version: string;
    readonly os: string;
    readonly runtime: string;
    readonly address: string;
    /** Bad conditions: pressure, no network, not Ready. */
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    readonly cordoned: boolean;
    /** As kubectl writes them: `key=value:effect`. */
    readonly taints: readonly string[];
  }[];
  /** The answer of each control plane's own API server at /readyz: `ok`, or the reason why it is not ready. */
  readonly apiServers: readonly { readonly host: string; readonly readyz: string }[];
  /** The versions that each host runs and has installed. */
  readonly versions: readonly HostVersions[];
  readonly etcd: {
    readonly topology: 'stacked' | 'external';
    readonly leader: string;
    readonly members: readonly {
      readonly name: string;
      readonly id: string;
      readonly peer: string;
      readonly learner: boolean;
      readonly healthy: boolean;
      readonly dbSize: number;
    }[];
    readonly alarms: readonly string[];
  };
  readonly certificates: readonly { readonly host: string; readonly name: string; readonly expires: string }[];
  /** Summaries of what `up` would change. */
  readonly drift: readonly string[];
  /** Only with `--no-hosts`: hosts that were not observed. Their certificates, packages and drift are not known. */
  readonly notObserved?: readonly string[];
  /** Known causes of findings on Windows hosts: docs/windows-troubleshooting.md. */
  readonly trouble: readonly {
    readonly host: string;
    readonly name: string;
    readonly found: string;
    readonly cause: string;
    readonly remedy: string;
  }[];
}

const MIB = 1024 * 1024;

/** A node as its row shows it: `yes`, `NO`, and what else keeps pods away from it. */
export function readiness({ ready, conditions, cordoned }: Status['nodes'][number]): string {
  const pressure = conditions.filter(({ type, status }) => type !== 'Ready' && status === 'True');
  return [ready ? 'yes' : 'NO', ...pressure.map(({ type }) => type), ...(cordoned ? ['cordoned'] : [])].join(', ');
}

/** The verdict, as the last lines: every problem with its remedy, and how many there are. */
function verdict({ cluster, problems, warnings }: Status): readonly string[] {
  const [first] = problems;
  const last =
    first === undefined
      ? 'healthy'
      : first.kind === 'cluster'
        ? `not healthy: ${cluster}: ${first.message}`
        : `not healthy: ${String(problems.length)} ${problems.length === 1 ? 'problem' : 'problems'}`;
  return [
    ...(warnings.length === 0 ? [] : ['', ...warnings]),
    ...(problems.length === 0 ? [] : ['', 'problems']),
    ...problems.flatMap(({ name, message, remedy }) => [
      `  ${name}: ${message}`,
      ...(remedy === undefined ? [] : [`    → ${remedy}`]),
    ]),
    '',
    last,
  ];
}

const eachTrouble = ({ trouble }: Status): readonly string[] => [
  ...(trouble.length === 0 ? [] : ['', 'trouble']),
  ...trouble.flatMap(({ host, name, found, cause, remedy }) => [
    `  ${host}: ${found} (${name}): ${cause}`,
    `    → ${remedy}`,
  ]),
];

function driftText({ drift, notObserved }: Status): string {
  if (notObserved !== undefined) {
    const others = notObserved.length === 0 ? '' : `, and nothing on ${notObserved.join(', ')}`;
    return `drift was not looked for${others} (--no-hosts)`;
  }
  if (drift.length === 0) return 'no drift: the inventory and the hosts agree';
  return `drift\n${drift.map((one) => `  ${one}`).join('\n')}`;
}

/** What the API and etcd tell of a cluster that answers: with it the text of its status begins. */
export function clusterText({
  cluster,
  version,
  endpoint,
  nodes,
  apiServers,
  etcd,
}: Pick<Status, 'cluster' | 'version' | 'endpoint' | 'nodes' | 'apiServers' | 'etcd'>): string {
  return [
    `${cluster}: Kubernetes ${version} at ${endpoint}`,
    '',
    'nodes',
    table([
      ['NAME', 'ROLE', 'READY', 'VERSION', 'ADDRESS', 'RUNTIME', 'OS'],
      ...nodes.map((node) => [
        node.name,
        node.role,
        readiness(node),
        node.version,
        node.address,
        node.runtime,
        node.os,
      ]),
    ]),
    '',
    `API servers: ${apiServers.map(({ host, readyz }) => `${host} ${readyz}`).join(', ')}`,
    '',
    `etcd (${etcd.topology}), leader ${etcd.leader === '' ? 'unknown' : etcd.leader}`,
    table([
      ['NAME', 'ID', 'PEER', 'STATE', 'SIZE'],
      ...etcd.members.map((member) => [
        member.name,
        member.id,
        member.peer,
        `${member.healthy ? 'healthy' : 'NOT HEALTHY'}${member.learner ? ', learner' : ''}`,
        `${String(Math.ceil(member.dbSize / MIB))} MiB`,
      ]),
    ]),
    ...etcd.alarms.map((alarm) => `  ALARM ${alarm}`),
    '',
  ].join('\n');
}

/** Those of these certificates that expire first, below a line of `whose`; empty if there is none. */
export function certificatesText(certificates: Status['certificates'], whose: string, nowMs: number): string {
  if (certificates.length === 0) return '';
  const days = (expires: string): string => String(daysLeft(Date.parse(expires), nowMs));
  const first = [...certificates].sort((a, b) => a.expires.localeCompare(b.expires)).slice(0, 5);
  return [
    '',
    `certificates${whose} that expire first`,
    table([
      ['HOST', 'NAME', 'EXPIRES', 'DAYS'],
      ...first.map((one) => [one.host, one.name, one.expires, days(one.expires)]),
    ]),
    '',
  ].join('\n');
}

/** Whose certificates are shown with what the API tells. */
export const OF_CONTROL_PLANE = ' of the control plane';

/**
 * A status as text. The days until certificates expire count from `nowMs`. `controlPlane`: hosts whose certificates
 * stand before what all hosts must tell.
 */
export function statusText(status: Status, nowMs: number, controlPlane: readonly string[] = []): string {
  if (status.version === '') return [...verdict(status).slice(1), ''].join('\n');
  const { certificates } = status;
  const early = certificates.filter(({ host }) => controlPlane.includes(host));
  const others = certificates.filter(({ host }) => !controlPlane.includes(host));
  const ofOthers = certificatesText(others, early.length === 0 ? '' : ' of other hosts', nowMs);
  const ofHosts = [
    '',
    ...(areMixed(status.versions) ? ['versions', table(versionRows(status.versions)), ''] : []),
    driftText(status),
    ...eachTrouble(status),
    ...verdict(status),
    '',
  ];
  return clusterText(status) + certificatesText(early, OF_CONTROL_PLANE, nowMs) + ofOthers + ofHosts.join('\n');
}
