import type { RecordLine, RunRecord } from './line.ts';
import {
  type Attributes,
  type Moment,
  type OpenSpan,
  type Outcome,
  type Span,
  spanList,
  type SpanList,
} from './spans.ts';

/** The lines of one kind. */
type LineOf<K extends RecordLine['kind']> = Extract<RecordLine, { readonly kind: K }>;

/** A handler for each kind of line. `atMs`: the time of the line, ms since the epoch. */
type Takers = { readonly [K in RecordLine['kind']]?: (line: LineOf<K>, atMs: number) => void };

/** Calls what takes lines of this kind, if there is one. */
function take(takers: Takers, line: RecordLine, atMs: number): void {
  const taker = takers[line.kind] as ((line: RecordLine, atMs: number) => void) | undefined;
  taker?.(line, atMs);
}

/** A shorter wait for a turn is none: hosts of a phase begin one after another. In ms. */
const SHORTEST_TURN_MS = 50;

/** The work of one host: one phase after another, in each one change after another, and waits between and in them. */
interface HostTimeline {
  /** The span that something of the host is part of now: its change, its phase, or the run. */
  readonly parent: () => number;
  /** Follows a line about the host. `phase`: the span of its phase. */
  readonly take: (line: RecordLine, atMs: number, phase: OpenSpan | undefined) => void;
  /** The phases are over. */
  readonly end: (atMs: number) => void;
}

/** The spans under way on a host. */
function underWay(spans: SpanList, host: string) {
  const now: { [K in 'phase' | 'change' | 'wait']?: OpenSpan | undefined } = {};
  /** When the last thing of the host began or ended: a wait began no earlier. */
  let sinceMs = 0;
  const parent = (): number => (now.change ?? now.phase)?.id ?? 0;
  const close = (what: keyof typeof now, atMs: number, outcome: Outcome, attributes: Attributes = {}): void => {
    spans.close(now[what], atMs, outcome, { attributes });
    now[what] = undefined;
  };
  return {
    host,
    spans,
    now,
    parent,
    close,
    sinceMs: () => sinceMs,
    happened: (atMs: number): void => {
      sinceMs = atMs;
    },
    waitFor: (name: string, atMs: number, startMs: number): void => {
      if (now.wait?.name === name) return;
      const isNext = now.wait !== undefined;
      close('wait', atMs, 'done');
      now.wait = spans.open({ kind: 'wait', host, parent: parent(), name, startMs: isNext ? atMs : startMs });
    },
    endAll: (atMs: number): void => {
      close('wait', atMs, 'done');
      close('change', atMs, 'cut off');
      close('phase', atMs, 'cut off');
    },
  };
}

type UnderWay = ReturnType<typeof underWay>;

/** The host begins a phase; it may have waited for its turn. */
function start({ host, spans, now, ...work }: UnderWay, name: string, atMs: number, phase: OpenSpan | undefined): void {
  work.endAll(atMs);
  const within = { host, parent: phase?.id ?? 0 };
  const freeMs = Math.max(work.sinceMs(), phase?.startMs ?? atMs);
  if (atMs - freeMs >= SHORTEST_TURN_MS) {
    const attributes = { what: 'turn' };
    const turn = spans.open({ kind: 'wait', ...within, name: 'its turn', startMs: freeMs, attributes });
    spans.close(turn, atMs, 'done');
  }
  const attributes = { phase: name };
  now.phase = spans.open({ kind: 'host', ...within, name: phase?.name ?? name, startMs: atMs, attributes });
  work.happened(atMs);
}

function takersOf({ host, spans, now, parent, close, ...work }: UnderWay): Takers {
  /** Something that ends the wait, if there is one. */
  const next =
    <L>(then: (line: L, atMs: number) => void) =>
    (line: L, atMs: number): void => {
      close('wait', atMs, 'done');
      then(line, atMs);
      work.happened(atMs);
    };
  const job = ({ summary }: LineOf<'job-waits' | 'job-followed'>, atMs: number): void =>
    work.waitFor(summary, atMs, atMs);
  return {
    changing: next(({ summary, phase, step }: LineOf<'changing'>, atMs) => {
      close('change', atMs, 'cut off');
      const attributes = { phase, step };
      now.change = spans.open({ kind: 'change', host, parent: parent(), name: summary, startMs: atMs, attributes });
    }),
    changed: next((_: LineOf<'changed'>, atMs) => close('change', atMs, 'done')),
    failed: next(({ summary, exitCode }: LineOf<'failed'>, atMs) => {
      close('change', atMs, 'failed');
      close('phase', atMs, 'failed', { failure: summary, exitCode });
    }),
    'host-done': next(({ changes }: LineOf<'host-done'>, atMs) => {
      close('change', atMs, 'cut off');
      close('phase', atMs, 'done', { changes });
    }),
    settling: ({ summary, waitedMs }, atMs) => work.waitFor(summary, atMs, Math.max(work.sinceMs(), atMs - waitedMs)),
    'job-waits': job,
    'job-followed': job,
    command: ({ command, status, durationMs }, atMs) => {
      const startMs = atMs - durationMs;
      const around = [now.change, now.phase].find((open) => open !== undefined && open.startMs <= startMs);
      const given = { kind: 'command', host, name: command, parent: around?.id ?? 0, startMs } as const;
      spans.close(spans.open({ ...given, attributes: { status } }), atMs, status === 0 ? 'done' : 'failed');
    },
  };
}

/** A host that has done nothing yet. */
function hostTimeline(spans: SpanList, host: string): HostTimeline {
  const work = underWay(spans, host);
  const takers = takersOf(work);
  return {
    parent: work.parent,
    end: work.endAll,
    take(line, atMs, phase) {
      if (line.kind === 'host-started') start(work, line.phase, atMs, phase);
      else take(takers, line, atMs);
    },
  };
}

/** The spans of a run, and its events that have no duration. */
interface Timeline {
  /** By their ids: the run itself comes first. */
  readonly spans: readonly Span[];
  readonly moments: readonly Moment[];
}

const INTERRUPTED = 130;

const outcomeOf = (exitCode: number): Outcome =>
  exitCode === 0 ? 'done' : exitCode === INTERRUPTED ? 'cut off' : 'failed';

/** The spans of observations, and the run's own. */
function ofRun(spans: SpanList, root: OpenSpan): Takers {
  let observing: OpenSpan | undefined;
  return {
    connecting: (_, atMs) => {
      observing = spans.open({ kind: 'observation', name: 'connect and observe', startMs: atMs });
    },
    observed: ({ hosts, durationMs }, atMs) => {
      const startMs = Math.max(root.startMs, atMs - durationMs);
      const open = observing ?? spans.open({ kind: 'observation', name: 'observe again', startMs });
      spans.close(open, atMs, 'done', { attributes: { hosts } });
      observing = undefined;
    },
    end: ({ exitCode, result }, atMs) => {
      spans.close(root, atMs, outcomeOf(exitCode), { attributes: { exitCode, result } });
    },
  };
}

function ofPhases(spans: SpanList, phases: Map<string, OpenSpan>, endHosts: (atMs: number) => void): Takers {
  const endAll = (atMs: number): void => {
    endHosts(atMs);
    for (const phase of phases.values()) spans.close(phase, atMs, 'cut off');
    phases.clear();
  };
  return {
    'phase-started': ({ phase, title, hosts }, atMs) => {
      spans.close(phases.get(phase), atMs, 'cut off');
      const attributes = { phase, hosts: hosts.length };
      phases.set(phase, spans.open({ kind: 'phase', name: title, startMs: atMs, attributes }));
    },
    'phase-done': ({ phase, changes }, atMs) => {
      spans.close(phases.get(phase), atMs, 'done', { attributes: { changes } });
      phases.delete(phase);
    },
    done: (_, atMs) => endAll(atMs),
    end: (_, atMs) => endAll(atMs),
  };
}

/** Waits of the run or of a host that have an identity of their own. */
function ofWaits(spans: SpanList, root: OpenSpan, host: (name: string) => HostTimeline): Takers {
  const waits = new Map<number, OpenSpan>();
  return {
    waiting: ({ wait, what, host: name, summary }, atMs) => {
      const given = { kind: 'wait', name: summary, startMs: atMs, attributes: { what } } as const;
      waits.set(wait, spans.open(name === undefined ? given : { ...given, host: name, parent: host(name).parent() }));
    },
    waited: ({ wait, durationMs }, atMs) =>
      spans.close(waits.get(wait), atMs, 'done', { startMs: Math.max(root.startMs, atMs - durationMs) }),
  };
}

function ofMoments(moments: Moment[]): Takers {
  const add = (kind: string, atMs: number, name: string, host?: string): void => {
    moments.push({ kind, atMs, name, ...(host === undefined ? {} : { host }) });
  };
  const message = ({ kind, host, message: text }: LineOf<'unreachable' | 'left-out'>, atMs: number): void =>
    add(kind, atMs, text, host);
  const summary = ({ kind, host, summary: text }: LineOf<'noted' | 'failed'>, atMs: number): void =>
    add(kind, atMs, text, host);
  return {
    unreachable: message,
    'left-out': message,
    noted: summary,
    failed: summary,
    locked: ({ kind, hosts }, atMs) => add(kind, atMs, `locks of ${String(hosts)} hosts taken`),
    interrupted: ({ kind, summary: text }, atMs) => add(kind, atMs, text),
  };
}

/** The spans and events of a run. A record that was cut off ends with its last line. Pure. */
export function timelineOf({ head, lines }: RunRecord): Timeline {
  const { command, cluster, run, kbuild } = head;
  const spans = spanList();
  const startMs = Date.parse(head.time);
  const attributes = { command, cluster, run, kbuild, hosts: head.hosts.length };
  const root = spans.open({ kind: 'run', name: `kbuild ${command}`, startMs, attributes });
  const moments: Moment[] = [];
  const phases = new Map<string, OpenSpan>();
  const hosts = new Map<string, HostTimeline>();
  const host = (name: string): HostTimeline => {
    const known = hosts.get(name) ?? hostTimeline(spans, name);
    hosts.set(name, known);
    return known;
  };
  const endHosts = (atMs: number): void => {
    for (const one of hosts.values()) one.end(atMs);
  };
  const all = [ofPhases(spans, phases, endHosts), ofRun(spans, root), ofWaits(spans, root, host), ofMoments(moments)];
  let endMs = startMs;
  for (const line of lines) {
    const atMs = Date.parse(line.time);
    endMs = Math.max(endMs, atMs);
    for (const takers of all) take(takers, line, atMs);
    if ('host' in line) host(line.host).take(line, atMs, 'phase' in line ? phases.get(line.phase) : undefined);
  }
  return { spans: spans.all(endMs), moments };
}
