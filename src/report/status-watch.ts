import type { FrameLine, Mark, Size } from './frame.ts';
import { readiness, type Status } from './status.ts';
import { counted, timeText } from './text.ts';

/** What `status --watch` compares: one thing of the cluster, and how it is. */
interface StatusRow {
  readonly kind: 'cluster' | 'node' | 'API server' | 'etcd member' | 'alarm' | 'problem' | 'drift';
  readonly name: string;
  readonly text: string;
}

/** Identifies a row from one observation to the next. */
const rowKey = ({ kind, name }: StatusRow): string => `${kind} ${name}`;

/**
 * The rows of a status, problems and drift last. Times and numbers that change by themselves are not in it.
 */
function statusRows(status: Status): readonly StatusRow[] {
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
function isUnknown({ kind }: StatusRow, now: Status): boolean {
  if (kind === 'problem') return false;
  if (now.version === '') return true;
  const unread = now.problems.some((problem) => problem.kind === 'unknown');
  if (kind === 'etcd member' || kind === 'alarm') return unread && now.etcd.members.length === 0;
  if (kind === 'API server') return unread && now.apiServers.length === 0;
  return kind === 'drift' && unread;
}

/** How a row differs from the observation before. `unknown`: it could not be read, and `known`: it can again. */
export interface StatusChange {
  readonly change: 'new' | 'changed' | 'gone' | 'unknown' | 'known';
  readonly kind: StatusRow['kind'];
  readonly name: string;
  readonly before?: string;
  readonly now?: string;
}

/** A row as it is shown: if it is unknown now, with the last known values. */
interface KnownRow {
  readonly row: StatusRow;
  readonly isUnknown: boolean;
  /** When it changed last; 0: not since the beginning. */
  readonly changedMs: number;
}

/** Follows a cluster from one observation to the next. */
export interface StatusWatch {
  /** Takes the next observation; what changed since the one before. Nothing for the first. */
  readonly next: (status: Status, nowMs: number) => readonly StatusChange[];
  /** The cluster as lines that fit into the window, with changed rows marked. */
  readonly frame: (size: Size, nowMs: number, every: string) => readonly FrameLine[];
}

/** For how long a changed row is marked, in ms. */
const MARKED_MS = 60_000;

/** How many changes a window shows. */
const KEPT = 8;

const SIGNS = { new: '+', changed: '~', gone: '-', unknown: '?', known: '~' } as const;

/** `22:31:05 ~ node w1: ready: NO (was: ready)`; the time of day is UTC, as in the lines of a run. */
export function changeText({ change, kind, name, before, now }: StatusChange, atMs: number): string {
  const what = `${kind} ${name}`;
  const is = now === undefined || now === '' ? what : `${what}: ${now}`;
  const texts = {
    new: is,
    changed: `${is} (was: ${before ?? ''})`,
    gone:
      kind === 'problem' || kind === 'drift'
        ? `${what}: no longer`
        : `${what}: gone${before === undefined || before === '' ? '' : ` (was: ${before})`}`,
    unknown: `${what}: not known now${before === undefined || before === '' ? '' : ` (was: ${before})`}`,
    known: `${is}, known again`,
  };
  return `${new Date(atMs).toISOString().slice(11, 19)} ${SIGNS[change]} ${texts[change]}`;
}

function changeOf(old: KnownRow | undefined, row: StatusRow): StatusChange | undefined {
  const { kind, name, text } = row;
  if (old === undefined) return { change: 'new', kind, name, now: text };
  if (old.row.text !== text) return { change: 'changed', kind, name, before: old.row.text, now: text };
  return old.isUnknown ? { change: 'known', kind, name, now: text } : undefined;
}

/** The rows after an observation, and what changed. */
function merged(
  before: ReadonlyMap<string, KnownRow>,
  status: Status,
  nowMs: number,
): { readonly rows: Map<string, KnownRow>; readonly changes: readonly StatusChange[] } {
  const changes: StatusChange[] = [];
  const rows = new Map<string, KnownRow>();
  for (const row of statusRows(status)) {
    const old = before.get(rowKey(row));
    const change = changeOf(old, row);
    if (change !== undefined) changes.push(change);
    rows.set(rowKey(row), { row, isUnknown: false, changedMs: change === undefined ? (old?.changedMs ?? 0) : nowMs });
  }
  for (const [key, old] of before) {
    if (rows.has(key)) continue;
    const { kind, name, text } = old.row;
    if (!isUnknown(old.row, status)) changes.push({ change: 'gone', kind, name, before: text });
    else {
      if (!old.isUnknown) changes.push({ change: 'unknown', kind, name, before: text });
      rows.set(key, { ...old, isUnknown: true, changedMs: old.isUnknown ? old.changedMs : nowMs });
    }
  }
  return { rows, changes };
}

const isRecent = ({ changedMs }: KnownRow, nowMs: number): boolean => changedMs > 0 && nowMs - changedMs < MARKED_MS;

const markOf = (known: KnownRow, nowMs: number): Mark => {
  if (known.isUnknown) return 'unknown';
  return isRecent(known, nowMs) ? 'changed' : known.row.kind === 'problem' ? 'failed' : 'none';
};

/** The order of rows: problems first, then unknown ones, then changed ones, then the others in their own order. */
function shownRows(rows: readonly KnownRow[], room: number, nowMs: number): readonly FrameLine[] {
  const urgent = (known: KnownRow): boolean => markOf(known, nowMs) !== 'none' || known.row.kind === 'cluster';
  const kept = rows.length <= room ? rows : rows.filter(urgent).slice(0, Math.max(0, room - 1));
  const left = rows.length <= room ? 0 : Math.max(0, room - 1 - kept.length);
  const others = left === 0 ? [] : rows.filter((known) => !urgent(known)).slice(0, left);
  const shown = rows.filter((known) => kept.includes(known) || others.includes(known));
  const lines = shown.map((known): FrameLine => {
    const { kind, name, text } = known.row;
    return {
      mark: markOf(known, nowMs),
      indent: 0,
      text: `${kind} ${name}${text === '' ? '' : `: ${text}`}${known.isUnknown ? ' (as known last)' : ''}`,
    };
  });
  const rest = rows.length - shown.length;
  return rest === 0 ? lines : [...lines, { mark: 'none', indent: 0, text: `and ${counted(rest, 'more row')}` }];
}

/** Follows a cluster. */
export function statusWatch(): StatusWatch {
  let rows: ReadonlyMap<string, KnownRow> | undefined;
  let last: { readonly status: Status; readonly atMs: number } | undefined;
  let recent: readonly string[] = [];
  return {
    next: (status, nowMs) => {
      const isFirst = rows === undefined;
      const next = merged(rows ?? new Map<string, KnownRow>(), status, nowMs);
      const changes = isFirst ? [] : next.changes;
      rows = isFirst ? new Map([...next.rows].map(([key, known]) => [key, { ...known, changedMs: 0 }])) : next.rows;
      last = { status, atMs: nowMs };
      recent = [...recent, ...changes.map((change) => changeText(change, nowMs))].slice(-KEPT);
      return changes;
    },
    frame: (size, nowMs, every) => {
      if (last === undefined || rows === undefined) return [];
      const { status, atMs } = last;
      const head =
        `${status.cluster}: ${status.healthy ? 'healthy' : 'NOT HEALTHY'}, observed ${timeText(nowMs - atMs)} ` +
        `ago, again every ${every}; Ctrl-C ends`;
      const height = Math.max(1, size.rows - 1);
      const below = recent.slice(-Math.max(0, Math.min(KEPT, Math.floor(height / 3))));
      const lines: readonly FrameLine[] = [
        { mark: status.healthy ? 'done' : 'failed', indent: 0, text: head },
        ...shownRows([...rows.values()], Math.max(1, height - 1 - (below.length === 0 ? 0 : below.length + 1)), nowMs),
        ...(below.length === 0 ? [] : [{ mark: 'none' as const, indent: 0, text: 'changes' }]),
        ...below.map((text): FrameLine => ({ mark: 'none', indent: 2, text })),
      ];
      return lines.slice(0, height);
    },
  };
}
