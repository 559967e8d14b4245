import type { RunRecord } from '../record/line.ts';
import { counted, hostList, lasting } from '../text.ts';
import { hostRow, type Material, type Row } from './host-row.ts';
import { byKey, clock, lanesOf, ticksOf } from './html.ts';
import type { Happened, PhaseView, Span } from './phase-view.ts';

/** Phases with at most so many hosts show each of them. */
const FEW = 3;

/** How many of the slowest hosts, and of those that failed, have a row of their own. */
const SLOWEST = 3;
const FAILED = 10;

/** Into how many classes of duration hosts are grouped. */
const CLASSES = 4;

/** The points of a crowd's curve. */
const POINTS = 60;

const NICE: readonly number[] = [100, 200, 500, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200].map(
  (value, at) => (at < 3 ? value : value * 1000),
);

const length = ({ fromMs, toMs }: Span): number => toMs - fromMs;

/** The share of hosts at work at each of many moments. */
function levelsOf(spans: readonly Span[], fromMs: number, toMs: number): readonly number[] {
  return Array.from({ length: POINTS }, (_, at) => {
    const ms = fromMs + ((toMs - fromMs) * (at + 0.5)) / POINTS;
    return spans.filter((span) => span.fromMs <= ms && ms <= span.toMs).length / spans.length;
  });
}

/** `under 20 s`, `20 s to 40 s` */
const className = (index: number, step: number): string => {
  const short = (ms: number): string =>
    lasting(ms)
      .replace(/\.0 s$/, ' s')
      .replace(/ 0 s$/, '');
  return index === 0 ? `under ${short(step)}` : `${short(index * step)} to ${short((index + 1) * step)}`;
};

/** One row for hosts that took about as long. */
function crowdRow(phase: PhaseView, spans: readonly Span[], name: string): Row {
  const fromMs = Math.min(...spans.map((span) => span.fromMs));
  const toMs = Math.max(...spans.map((span) => span.toMs));
  const hosts = hostList(spans.map(({ host }) => host));
  const text =
    `${phase.title}: ${counted(spans.length, 'host')} took ${name}, from ${clock(fromMs)} to ` +
    `${clock(toMs)}: ${hosts}`;
  const end = spans.some(({ end: how }) => how === 'cut off') ? 'cut off' : 'done';
  const levels = levelsOf(spans, fromMs, toMs);
  return {
    label: name,
    detail: counted(spans.length, 'host'),
    lanes: 1,
    slices: [
      {
        what: 'crowd',
        number: phase.number,
        fromMs,
        toMs,
        lane: 0,
        text,
        end,
        isUnplanned: false,
        isRestart: false,
        levels,
      },
    ],
    failedMs: undefined,
  };
}

/** The hosts of spans, each once. */
const hostsOf = (spans: readonly Span[]): readonly string[] => [...new Set(spans.map(({ host }) => host))];

/** Hosts that took about as long, in a few classes; those that have rows of their own alone make no class. */
function classes(phase: PhaseView, spans: readonly Span[], shown: ReadonlySet<string>): readonly Row[] {
  const longest = Math.max(1, ...spans.map(length));
  const step = NICE.find((nice) => longest / nice < CLASSES) ?? longest;
  return Array.from({ length: CLASSES }, (_, index) => {
    const those = spans.filter((span) => Math.floor(length(span) / step) === index);
    return those.every(({ host }) => shown.has(host)) ? [] : [crowdRow(phase, those, className(index, step))];
  }).flat();
}

/** The rows of a phase with many hosts: classes of duration, then the slowest hosts and those that failed. */
function crowdRows(phase: PhaseView, material: Material): readonly Row[] {
  const ofPhase = material.happened.spans.filter((span) => span.phase === phase.name);
  const mine = ofPhase.filter(({ what }) => what === 'phase');
  const failed = hostsOf(mine.filter(({ end }) => end === 'failed'));
  const row = (host: string, word: string): Row => {
    const own = ofPhase.filter((span) => span.host === host);
    const took = lasting(Math.max(...own.filter(({ what }) => what === 'phase').map(length)));
    const made = hostRow(host, own, material);
    // It may have failed in another phase.
    return { ...made, detail: `${word}${took}`, failedMs: failed.includes(host) ? made.failedMs : undefined };
  };
  const well = mine.filter(({ host }) => !failed.includes(host));
  const slowest = hostsOf(well.toSorted((a, b) => length(b) - length(a))).slice(0, SLOWEST);
  const rows =
    mine.length <= FEW
      ? hostsOf(mine).map((host) => row(host, ''))
      : [
          ...classes(phase, well, new Set(slowest)),
          ...slowest.map((host) => row(host, 'slowest, ')),
          ...failed.slice(0, FAILED).map((host) => row(host, 'failed, ')),
        ];
  const heading = `${String(phase.number)} ${phase.title}`;
  return rows.map((one, at) => (at === 0 ? { ...one, heading } : one));
}

/** Runs of more hosts are grouped by phase and duration. */
const ROWS = 24;

/** A phase, or what stood before the first one (`number` 0), in the overview. */
export interface Band {
  readonly number: number;
  readonly title: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly lane: number;
}

/** A run in time. All times in ms since its start. */
export interface TimelineView {
  readonly totalMs: number;
  readonly ticks: readonly (readonly number[])[];
  readonly bands: readonly Band[];
  readonly lanes: number;
  /** `hosts`: a row for each host; `groups`: rows for hosts that took about as long, by phase. */
  readonly form: 'hosts' | 'groups';
  readonly rows: readonly Row[];
  /** Hosts of the inventory that had nothing to do. */
  readonly idle: readonly string[];
  readonly failedMs: number | undefined;
  readonly interruptedMs: number | undefined;
}

function bandsOf({ before }: Happened, phases: readonly PhaseView[]): Pick<TimelineView, 'bands' | 'lanes'> {
  const all = [...before.map((stage) => ({ ...stage, number: 0 })), ...phases].toSorted((a, b) => a.fromMs - b.fromMs);
  const { lanes, count } = lanesOf(all);
  return {
    bands: all.map(({ number, title, fromMs, toMs }, at) => ({ number, title, fromMs, toMs, lane: lanes[at]! })),
    lanes: count,
  };
}

/** The rows and slices of a timeline. Pure. */
export function timelineOf(record: RunRecord, happened: Happened, phases: readonly PhaseView[]): TimelineView {
  const spans = byKey(happened.spans, ({ host }) => host);
  const known = record.head.hosts.map(({ name }) => name);
  const names = [...known, ...[...spans.keys()].filter((name) => name !== '' && !known.includes(name))];
  const busy = names.filter((name) => spans.has(name));
  const form = busy.length > ROWS ? 'groups' : 'hosts';
  const run = spans.get('');
  const ofRun = run === undefined ? [] : [hostRow('', run, { record, happened, phases })];
  const rows =
    form === 'hosts'
      ? busy.map((name) => hostRow(name, spans.get(name)!, { record, happened, phases }))
      : phases.flatMap((phase) => crowdRows(phase, { record, happened, phases }));
  return {
    totalMs: Math.max(1, happened.endMs),
    ticks: ticksOf(Math.max(1, happened.endMs)),
    ...bandsOf(happened, phases),
    form,
    rows: [...ofRun, ...rows],
    idle: known.filter((name) => !spans.has(name)),
    failedMs: happened.failures[0]?.atMs,
    interruptedMs: happened.interruptedMs,
  };
}
