import type { RunRecord } from '../record/line.ts';
import { counted, hostList, lasting } from '../text.ts';
import { certificatesOf, type CertificatesView } from './certificates.ts';
import { clusterOf, type ClusterView } from './cluster-view.ts';
import { failuresOf, type FailureView, nextOf } from './failures.ts';
import { findingsOf, type FindingView } from './findings.ts';
import { lineOf, linesOf } from './html.ts';
import { happened, type Happened, phasesOf, type PhaseView, type Span } from './phase-view.ts';
import { planOf, type PlanView } from './plan.ts';
import { portsOf, type PortsView } from './ports.ts';
import { timelineOf, type TimelineView } from './timeline-view.ts';

/** How a run ended. `unfinished`: its record has no end. */
export type Outcome = 'done' | 'failed' | 'interrupted' | 'unfinished';

/** A run in one line, and its key figures. */
interface ResultView {
  readonly outcome: Outcome;
  /** e.g. `51 changes on 3 hosts in 2 min 28 s` */
  readonly line: string;
  readonly exitCode: number | undefined;
  readonly durationMs: number;
  readonly changes: number;
  /** Hosts that were changed. */
  readonly changed: readonly string[];
  readonly failed: readonly string[];
  /** Hosts that the run went on without, and why. */
  readonly leftOut: readonly { readonly host: string; readonly message: string }[];
  /** How long hosts waited for locks, their turns, jobs and health, all together. */
  readonly waitedMs: number;
}

const INTERRUPTED = 130;

function outcomeOf(exitCode: number | undefined, wasInterrupted: boolean): Outcome {
  if (exitCode === undefined) return wasInterrupted ? 'interrupted' : 'unfinished';
  if (exitCode === 0) return 'done';
  return exitCode === INTERRUPTED || (wasInterrupted && exitCode === 5) ? 'interrupted' : 'failed';
}

function text(view: Omit<ResultView, 'line'>): string {
  const { outcome, changes, changed, failed, leftOut, durationMs } = view;
  const took = lasting(durationMs);
  const made =
    changes === 0 ? 'nothing was changed' : `${counted(changes, 'change')} on ${counted(changed.length, 'host')}`;
  const bad = [
    ...(failed.length === 0 ? [] : [`${hostList(failed)} failed`]),
    ...(leftOut.length === 0 ? [] : [`${hostList(leftOut.map(({ host }) => host))} left out`]),
  ];
  const rest = bad.length === 0 ? '' : `; ${bad.join('; ')}`;
  switch (outcome) {
    case 'done':
      return `${made} in ${took}${rest}`;
    case 'failed':
      return `after ${took}: ${made}${rest}`;
    case 'interrupted':
      return `after ${took}: ${made}${rest}`;
    case 'unfinished':
      return `the record ends after ${took} without a result: ${made}${rest}`;
  }
}

/** The result of a run. Pure. */
function resultOf(record: RunRecord, { spans, endMs, failures, interruptedMs }: Happened): ResultView {
  const end = lineOf(record, 'end');
  const error = lineOf(record, 'error');
  const done = spans.filter(({ what, end: how }) => what === 'change' && how === 'done');
  const left = new Map<string, string>();
  for (const line of record.lines)
    if (line.kind === 'left-out' || line.kind === 'unreachable') left.set(line.host, line.message);
  const exitCode = end?.exitCode ?? error?.exitCode;
  const view = {
    outcome: outcomeOf(exitCode, interruptedMs !== undefined),
    exitCode,
    durationMs: end?.durationMs ?? endMs,
    changes: done.length,
    changed: [...new Set(done.map(({ host }) => host))],
    failed: [...new Set(failures.map(({ host }) => host))],
    leftOut: [...left].map(([host, message]) => ({ host, message })),
    waitedMs: spans.reduce((sum, { what, fromMs, toMs }) => (what === 'wait' ? sum + toMs - fromMs : sum), 0),
  };
  return { ...view, line: text(view) };
}

/** All that a report shows. */
export interface ReportView {
  readonly head: RunRecord['head'];
  readonly isWhole: boolean;
  /** Lines of the record that could not be read. */
  readonly leftOut: number;
  readonly result: ResultView;
  /** The first one first. */
  readonly failures: readonly FailureView[];
  /** What to type to go on after them; may be empty. */
  readonly next: string;
  readonly phases: readonly PhaseView[];
  readonly timeline: TimelineView;
  /** The changes and waits that lasted longest, in the order of their duration. */
  readonly longest: readonly Span[];
  readonly plan: PlanView;
  readonly findings: readonly FindingView[] | undefined;
  /** Notes that the run left for the operator, in its words. */
  readonly notes: readonly { readonly host: string; readonly summary: string }[];
  readonly cluster: ClusterView;
  readonly ports: PortsView | undefined;
  readonly certificates: CertificatesView | undefined;
}

/** How many of the longest changes and waits a report lists. */
const LONGEST = 200;

/** The content of a report, made of a record. Pure. */
export function reportView(record: RunRecord): ReportView {
  const all = happened(record);
  const phases = phasesOf(record, all);
  return {
    head: record.head,
    isWhole: record.isWhole,
    leftOut: record.leftOut,
    result: resultOf(record, all),
    failures: failuresOf(record),
    next: nextOf(record),
    phases,
    timeline: timelineOf(record, all, phases),
    longest: all.spans
      .filter(({ what }) => what !== 'phase')
      .toSorted((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs))
      .slice(0, LONGEST),
    plan: planOf(record, all, phases),
    findings: findingsOf(record),
    notes: linesOf(record, 'noted').map(({ host, summary }) => ({ host, summary })),
    cluster: clusterOf(record),
    ports: portsOf(record),
    certificates: certificatesOf(record),
  };
}
