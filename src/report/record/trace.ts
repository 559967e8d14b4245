import type { RunRecord } from './line.ts';
import type { Moment, Span } from './spans.ts';
import { timelineOf } from './timeline.ts';

/**
 * An event of Chrome's Trace Event Format, which Perfetto reads. Times in µs since the run's start. `X`: a complete
 * event, `i`: an instant, `M`: metadata.
 */
type TraceEvent =
  | {
      readonly ph: 'X';
      readonly name: string;
      readonly cat: string;
      readonly ts: number;
      readonly dur: number;
      readonly pid: number;
      readonly tid: number;
      readonly args: Readonly<Record<string, string | number>>;
    }
  | {
      readonly ph: 'i';
      readonly name: string;
      readonly cat: string;
      readonly ts: number;
      readonly s: 't' | 'p';
      readonly pid: number;
      readonly tid: number;
    }
  | {
      readonly ph: 'M';
      readonly name: 'process_name' | 'thread_name' | 'thread_sort_index';
      readonly pid: number;
      readonly tid: number;
      readonly args: { readonly name: string } | { readonly sort_index: number };
    };

/** A trace as ui.perfetto.dev and chrome://tracing open it. */
interface Trace {
  readonly displayTimeUnit: 'ms';
  readonly otherData: Readonly<Record<string, string>>;
  readonly traceEvents: readonly TraceEvent[];
}

const PID = 1;

/** A span in whole µs since the run's start. */
interface Slice {
  readonly span: Span;
  readonly ts: number;
  readonly end: number;
}

/** The slices of one thread: each two of them nest, or do not overlap. */
type Lane = readonly Slice[];

/** Slices in lanes: one that overlaps another without being part of it gets another lane. */
function lanes(slices: readonly Slice[]): readonly Lane[] {
  const sorted = slices.toSorted((a, b) => a.ts - b.ts || b.end - a.end || a.span.id - b.span.id);
  const made: { readonly lane: Slice[]; readonly around: Slice[] }[] = [];
  for (const slice of sorted) {
    for (const { around } of made) while (around.length > 0 && around.at(-1)!.end <= slice.ts) around.pop();
    let home = made.find(({ around }) => around.length === 0 || around.at(-1)!.end >= slice.end);
    if (home === undefined) made.push((home = { lane: [], around: [] }));
    home.lane.push(slice);
    home.around.push(slice);
  }
  return made.map(({ lane }) => lane);
}

/** The groups of rows: the run, its phases, each host, and the commands on each host. */
const trackOf = ({ kind, host }: Span): string =>
  kind === 'phase' ? 'phases' : host === undefined ? 'kbuild' : kind === 'command' ? `${host} commands` : host;

function by<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** The names of all tracks in their order: hosts stand as in the inventory, those that it does not name come last. */
function tracks({ head }: RunRecord, spans: readonly Span[], moments: readonly Moment[]): readonly string[] {
  const named = head.hosts.map(({ name }) => name);
  const others = [...spans, ...moments].flatMap(({ host }) => host ?? []);
  const hosts = new Set([...named, ...others]);
  return ['kbuild', 'phases', ...[...hosts].flatMap((host) => [host, `${host} commands`])];
}

const threadNamed = (tid: number, name: string): readonly TraceEvent[] => [
  { ph: 'M', name: 'thread_name', pid: PID, tid, args: { name } },
  { ph: 'M', name: 'thread_sort_index', pid: PID, tid, args: { sort_index: tid } },
];

const complete = (tid: number, { span, ts, end }: Slice): TraceEvent => {
  const { name, kind, outcome, attributes } = span;
  return { ph: 'X', name, cat: kind, ts, dur: end - ts, pid: PID, tid, args: { ...attributes, outcome } };
};

/**
 * The trace of a run: the run, its phases and every host are threads; phases, changes, waits and commands are slices.
 * The record may be that of a run that was killed. Pure.
 */
export function traceOf(record: RunRecord): Trace {
  const { head } = record;
  const { spans, moments } = timelineOf(record);
  const startMs = Date.parse(head.time);
  const us = (ms: number): number => Math.max(0, Math.round((ms - startMs) * 1000));
  const byTrack = by(spans, trackOf);
  const momentsByTrack = by(moments, ({ host }) => host ?? 'kbuild');
  const traceEvents: TraceEvent[] = [
    { ph: 'M', name: 'process_name', pid: PID, tid: 0, args: { name: `kbuild ${head.command}: ${head.cluster}` } },
  ];
  let tid = 0;
  for (const track of tracks(record, spans, moments)) {
    const slices = (byTrack.get(track) ?? []).map((span) => ({ span, ts: us(span.startMs), end: us(span.endMs) }));
    const instants = momentsByTrack.get(track) ?? [];
    const threads = slices.length === 0 && instants.length > 0 ? [[]] : lanes(slices);
    threads.forEach((lane, index) => {
      tid += 1;
      traceEvents.push(...threadNamed(tid, index === 0 ? track : `${track} (${String(index + 1)})`));
      traceEvents.push(...lane.map((slice) => complete(tid, slice)));
      if (index > 0) return;
      for (const { kind, name, host, atMs } of instants)
        traceEvents.push({ ph: 'i', name, cat: kind, ts: us(atMs), s: host === undefined ? 'p' : 't', pid: PID, tid });
    });
  }
  return {
    displayTimeUnit: 'ms',
    otherData: { run: head.run, cluster: head.cluster, kbuild: head.kbuild, start: head.time },
    traceEvents,
  };
}
