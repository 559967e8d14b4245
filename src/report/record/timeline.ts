import { hostTimeline, type HostTimeline } from './host-timeline.ts';
import type { RunRecord } from './line.ts';
import { spanList, type Moment, type OpenSpan, type Outcome, type Span, type SpanList } from './spans.ts';
import { take, type LineOf, type Takers } from './take-line.ts';

/** What of a run lasted, and what happened at once. */
export interface Timeline {
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

/** What of a run lasted, and what happened at once. A record that was cut off ends with its last line. Pure. */
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
