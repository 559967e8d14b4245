import type { RunRecord } from '../record/line.ts';
import { byKey } from './by-key.ts';
import type { Happened, Span } from './span.ts';

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
  /** The host that took longest, and what of it took longest; undefined: no host began. */
  readonly longest:
    { readonly host: string; readonly ms: number; readonly on: string; readonly onMs: number } | undefined;
  /** What the other hosts did until the slowest was through: how many waited, and the longest wait. */
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
