import type { RecordLine } from './line.ts';
import type { Attributes, OpenSpan, Outcome, SpanList } from './spans.ts';
import { take, type LineOf, type Takers } from './take-line.ts';

/** A shorter wait for a turn is none: hosts of a phase begin one after another. In ms. */
const SHORTEST_TURN_MS = 50;

/** What one host does: a phase after the other, in it a change after the other, and waits between and in them. */
export interface HostTimeline {
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
export function hostTimeline(spans: SpanList, host: string): HostTimeline {
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
