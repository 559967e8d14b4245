import { readiness, type Status } from './status.ts';

/** What `status --watch` compares: one thing of the cluster, and how it is. */
export interface StatusRow {
  readonly kind: 'cluster' | 'node' | 'API server' | 'etcd member' | 'alarm' | 'problem' | 'drift';
  readonly name: string;
  readonly text: string;
}

/** Identifies a row from one observation to the next. */
export const rowKey = ({ kind, name }: StatusRow): string => `${kind} ${name}`;

/**
 * The rows of a status, problems and drift last. Times and numbers that change by themselves are not in it.
 */
export function statusRows(status: Status): readonly StatusRow[] {
  const { nodes, apiServers, etcd, problems, drift, version, endpoint } = status;
  return [
    {
      kind: 'cluster',
      name: status.cluster,
      text: version === '' ? 'does not answer' : `Kubernetes ${version} at ${endpoint}`,
    },
    ...nodes.map((node): StatusRow => ({
      kind: 'node',
      name: node.name,
      text: [readiness(node) === 'yes' ? 'ready' : `ready: ${readiness(node)}`, node.version, ...node.taints].join(
        ', ',
      ),
    })),
    ...apiServers.map(({ host, readyz }): StatusRow => ({ kind: 'API server', name: host, text: readyz })),
    ...etcd.members.map(({ name, id, healthy, learner }): StatusRow => ({
      kind: 'etcd member',
      name: name === '' ? id : name,
      text: [
        healthy ? 'healthy' : 'NOT HEALTHY',
        ...(learner ? ['learner'] : []),
        ...(name !== '' && name === etcd.leader ? ['leader'] : []),
      ].join(', '),
    })),
    ...etcd.alarms.map((alarm): StatusRow => ({ kind: 'alarm', name: alarm, text: 'raised' })),
    ...problems.map(({ name, message }): StatusRow => ({ kind: 'problem', name: `of ${name}: ${message}`, text: '' })),
    ...drift.map((summary): StatusRow => ({ kind: 'drift', name: summary, text: '' })),
  ];
}

/**
 * True if a row that is missing now may be there all the same: the cluster, or the part of it that the row belongs to,
 * could not be read.
 */
export function isUnknown({ kind }: StatusRow, now: Status): boolean {
  if (kind === 'problem') return false;
  if (now.version === '') return true;
  const unread = now.problems.some((problem) => problem.kind === 'unknown');
  if (kind === 'etcd member' || kind === 'alarm') return unread && now.etcd.members.length === 0;
  if (kind === 'API server') return unread && now.apiServers.length === 0;
  return kind === 'drift' && unread;
}
