import type { ClusterUp } from '../facts/cluster.ts';

/** `kbuild status` as `cli.md` promises it to scripts. */
export interface Status {
  readonly cluster: string;
  readonly version: string;
  readonly endpoint: string;
  readonly nodes: readonly {
    readonly name: string;
    readonly role: string;
    readonly ready: boolean;
    readonly version: string;
    readonly os: string;
    readonly runtime: string;
    readonly address: string;
  }[];
  /** What each control plane's own API server says to /readyz: `ok`, or why not. */
  readonly apiServers: readonly { readonly host: string; readonly readyz: string }[];
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
  /** What the facts of Windows hosts are known to mean: docs/windows-troubleshooting.md. */
  readonly trouble: readonly {
    readonly host: string;
    readonly name: string;
    readonly found: string;
    readonly cause: string;
    readonly remedy: string;
  }[];
}

/** The cluster's part of a status. */
export function clusterStatus(
  cluster: ClusterUp,
  topology: 'stacked' | 'external',
): Pick<Status, 'version' | 'nodes' | 'apiServers' | 'etcd'> {
  return {
    version: cluster.version,
    nodes: cluster.nodes.map(({ name, role, ready, kubeletVersion, os, runtime, internalAddress }) => ({
      name,
      role,
      ready,
      version: kubeletVersion,
      os,
      runtime,
      address: internalAddress,
    })),
    apiServers: [...cluster.apiServers]
      .map(([host, readyz]) => ({ host, readyz }))
      .sort((a, b) => a.host.localeCompare(b.host)),
    etcd: {
      topology,
      leader: cluster.members.find(({ leader }) => leader)?.name ?? '',
      members: cluster.members.map(({ name, id, peerUrl, learner, healthy, dbSize }) => ({
        name,
        id,
        peer: peerUrl,
        learner,
        healthy,
        dbSize,
      })),
      alarms: cluster.alarms,
    },
  };
}

/** Columns as wide as their widest cell. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
    .join('\n');
}

const MIB = 1024 * 1024;

/** A status for people. `nowMs` tells how long certificates still hold. */
export function statusText(status: Status, nowMs: number): string {
  const { nodes, etcd, certificates, drift } = status;
  const days = (expires: string): string => String(Math.floor((Date.parse(expires) - nowMs) / 86_400_000));
  const first = [...certificates].sort((a, b) => a.expires.localeCompare(b.expires)).slice(0, 5);
  return [
    `${status.cluster}: Kubernetes ${status.version} at ${status.endpoint}`,
    '',
    'nodes',
    table([
      ['NAME', 'ROLE', 'READY', 'VERSION', 'ADDRESS', 'RUNTIME', 'OS'],
      ...nodes.map((node) => [
        node.name,
        node.role,
        node.ready ? 'yes' : 'NO',
        node.version,
        node.address,
        node.runtime,
        node.os,
      ]),
    ]),
    '',
    `API servers: ${status.apiServers.map(({ host, readyz }) => `${host} ${readyz}`).join(', ')}`,
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
    'certificates that expire first',
    table([
      ['HOST', 'NAME', 'EXPIRES', 'DAYS'],
      ...first.map((one) => [one.host, one.name, one.expires, days(one.expires)]),
    ]),
    '',
    drift.length === 0
      ? 'no drift: the inventory and the hosts agree'
      : `drift\n${drift.map((one) => `  ${one}`).join('\n')}`,
    ...(status.trouble.length === 0 ? [] : ['', 'trouble']),
    ...status.trouble.flatMap(({ host, name, found, cause, remedy }) => [
      `  ${host}: ${found} (${name}): ${cause}`,
      `    → ${remedy}`,
    ]),
    '',
  ].join('\n');
}
