import type { RunRecord } from '../record/line.ts';
import { byKey } from './by-key.ts';
import { crowdRows } from './crowd-rows.ts';
import { lanesOf } from './lanes.ts';
import type { PhaseView } from './phase-view.ts';
import { hostRow, type Row } from './host-row.ts';
import type { Happened } from './span.ts';
import { ticksOf } from './ticks.ts';

/** Runs of more hosts are grouped by phase and duration. */
export const ROWS = 24;

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
