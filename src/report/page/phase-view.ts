import type { RecordLine, RunRecord } from '../record/line.ts';
import type { Span as RunSpan } from '../record/spans.ts';
import { timelineOf } from '../record/timeline.ts';
import { byKey, linesOf } from './html.ts';

/** Something that lasted, on one host or on the whole run. Times in ms since the start of the run. */
export interface Span {
  /** `phase`: a host in a phase; `change`: a change on it; `wait`: a time for which it waited. */
  readonly what: 'phase' | 'change' | 'wait';
  /** Empty: the whole run. */
  readonly host: string;
  /** Its name; empty for what happens in no phase. */
  readonly phase: string;
  readonly step: string;
  readonly summary: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly end: RunSpan['outcome'];
  /** It was not in the confirmed plan. */
  readonly isUnplanned: boolean;
}

/** A moment on a host. */
interface Mark {
  readonly host: string;
  readonly atMs: number;
}

/** A part of a run that belongs to no phase. */
interface Stage {
  readonly title: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** All that happened, in the order of its beginning. */
export interface Happened {
  /** When the last line was written, or the run ended. */
  readonly endMs: number;
  readonly spans: readonly Span[];
  /** The work of the run before its first phase. */
  readonly before: readonly Stage[];
  /** When hosts failed. */
  readonly failures: readonly Mark[];
  /** When the run was told to end; undefined: never. */
  readonly interruptedMs: number | undefined;
}

const WHATS: Readonly<Partial<Record<RunSpan['kind'], Span['what']>>> = {
  host: 'phase',
  change: 'change',
  wait: 'wait',
};

const id = (...of: readonly string[]): string => JSON.stringify(of);

/** The spans of hosts, and the waits of the run. Phases and steps stand in the spans that they are part of. */
function spansOf(record: RunRecord, all: readonly RunSpan[]): readonly Span[] {
  const startMs = Date.parse(record.head.time);
  const byId = new Map(all.map((span) => [span.id, span]));
  const unplanned = new Set(linesOf(record, 'unplanned').map(({ phase, host, step }) => id(phase, host, step)));
  const attributeOf = (span: RunSpan | undefined, name: 'phase' | 'step'): string => {
    const value = span?.attributes[name];
    if (value !== undefined) return String(value);
    return span?.parent === undefined ? '' : attributeOf(byId.get(span.parent), name);
  };
  return all.flatMap((span): readonly Span[] => {
    const what = WHATS[span.kind];
    if (what === undefined) return [];
    const { host = '', name, outcome } = span;
    const [phase, step] = [attributeOf(span, 'phase'), attributeOf(span, 'step')];
    return [
      {
        what,
        host,
        phase,
        step,
        summary: what === 'phase' ? '' : name,
        fromMs: Math.max(0, span.startMs - startMs),
        toMs: Math.max(0, span.endMs - startMs),
        end: outcome,
        isUnplanned: what === 'change' && unplanned.has(id(phase, host, step)),
      },
    ];
  });
}

/** The parts before the first phase. */
function stages(record: RunRecord): readonly Stage[] {
  const startMs = Date.parse(record.head.time);
  const firstOf = (...kinds: readonly RecordLine['kind'][]): number | undefined => {
    const line = record.lines.find(({ kind }) => kinds.includes(kind));
    return line === undefined ? undefined : Math.max(0, Date.parse(line.time) - startMs);
  };
  const [connecting, observed, begun] = [firstOf('connecting'), firstOf('observed'), firstOf('phase-started', 'end')];
  return [
    { title: 'Observe', fromMs: connecting, toMs: observed },
    { title: 'Check, plan, ask', fromMs: observed, toMs: begun },
  ].flatMap(({ title, fromMs, toMs }) =>
    fromMs === undefined || toMs === undefined || toMs <= fromMs ? [] : [{ title, fromMs, toMs }],
  );
}

/** The events of a record. Work that has not ended when the record ends is marked as cut off. Pure. */
export function happened(record: RunRecord): Happened {
  const { spans, moments } = timelineOf(record);
  const startMs = Date.parse(record.head.time);
  const since = (ms: number): number => Math.max(0, ms - startMs);
  const interrupted = moments.find(({ kind }) => kind === 'interrupted');
  return {
    endMs: since(spans.reduce((latest, { endMs }) => Math.max(latest, endMs), startMs)),
    spans: spansOf(record, spans).toSorted((a, b) => a.fromMs - b.fromMs || a.toMs - b.toMs),
    before: stages(record),
    failures: moments.flatMap(({ kind, host, atMs }) =>
      kind === 'failed' && host !== undefined ? [{ host, atMs: since(atMs) }] : [],
    ),
    interruptedMs: interrupted === undefined ? undefined : since(interrupted.atMs),
  };
}

/** One phase of a run. Durations in ms, times since the start of the run. */
export interface PhaseView {
  /** From 1, in the order of their beginning. */
  readonly number: number;
  readonly name: string;
  readonly title: string;
  readonly hosts: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly changes: number;
  /** The host that took longest, and its longest change; undefined: no host began. */
  readonly longest:
    { readonly host: string; readonly ms: number; readonly on: string; readonly onMs: number } | undefined;
  /** The other hosts until the slowest had ended: how many waited, and the longest wait. */
  readonly others: { readonly waiting: number; readonly longestMs: number; readonly host: string };
  /** Hosts that failed in it. */
  readonly failed: readonly string[];
  readonly isCut: boolean;
}

const length = ({ fromMs, toMs }: Span): number => toMs - fromMs;

const longestOf = (spans: readonly Span[]): Span | undefined =>
  spans.reduce<Span | undefined>(
    (best, span) => (best === undefined || length(span) > length(best) ? span : best),
    undefined,
  );

/** How long the hosts of a phase had nothing to do after their own part, at most until the phase was over. */
function waitsOf(spans: readonly Span[], all: ReadonlyMap<string, readonly Span[]>): PhaseView['others'] {
  const toMs = Math.max(...spans.map((span) => span.toMs));
  const waits = spans.flatMap((span) => {
    const next = (all.get(span.host) ?? []).filter(({ fromMs }) => fromMs >= span.toMs).map(({ fromMs }) => fromMs);
    const ms = Math.min(toMs, ...next) - span.toMs;
    return span.end === 'done' && ms >= 100 ? [{ host: span.host, ms }] : [];
  });
  const longest = waits.toSorted((a, b) => b.ms - a.ms)[0];
  return { waiting: waits.length, longestMs: longest?.ms ?? 0, host: longest?.host ?? '' };
}

/** The phases that began, in the order of their beginning. Pure. */
export function phasesOf({ lines }: RunRecord, { spans, endMs }: Happened): readonly PhaseView[] {
  const titles = new Map<string, string>();
  for (const line of lines) {
    if (line.kind === 'plan') for (const { name, title } of line.phases) titles.set(name, title);
    if (line.kind === 'phase-started') titles.set(line.phase, line.title);
  }
  const inPhases = spans.filter(({ what }) => what === 'phase');
  const byHost = byKey(inPhases, ({ host }) => host);
  const details = byKey(
    spans.filter(({ what }) => what !== 'phase'),
    ({ host }) => host,
  );
  return [...byKey(inPhases, ({ phase }) => phase)].map(([name, mine], index) => {
    const slowest = longestOf(mine);
    const on = longestOf(
      (details.get(slowest?.host ?? '') ?? []).filter(
        (span) =>
          span.phase === name ||
          (span.phase === '' && slowest !== undefined && span.fromMs >= slowest.fromMs && span.toMs <= slowest.toMs),
      ),
    );
    return {
      number: index + 1,
      name,
      title: titles.get(name) ?? name,
      hosts: [...new Set(mine.map(({ host }) => host))],
      fromMs: Math.min(...mine.map(({ fromMs }) => fromMs)),
      toMs: Math.min(endMs, Math.max(...mine.map(({ toMs }) => toMs))),
      changes: spans.filter(({ what, phase, end }) => what === 'change' && phase === name && end === 'done').length,
      longest:
        slowest === undefined
          ? undefined
          : { host: slowest.host, ms: length(slowest), on: on?.summary ?? '', onMs: on === undefined ? 0 : length(on) },
      others: waitsOf(mine, byHost),
      failed: mine.filter(({ end }) => end === 'failed').map(({ host }) => host),
      isCut: mine.some(({ end }) => end === 'cut off'),
    };
  });
}
