import type { RunRecord } from '../record/line.ts';
import { certificatesOf, type CertificatesView } from './certificates-view.ts';
import { clusterOf, type ClusterView } from './cluster-view.ts';
import { failuresOf, type FailureView } from './failure-view.ts';
import { findingsOf, type FindingView } from './findings-view.ts';
import { linesOf } from './line-of.ts';
import { phasesOf, type PhaseView } from './phase-view.ts';
import { planOf, type PlanView } from './plan-view.ts';
import { portsOf, type PortsView } from './ports-view.ts';
import { resultOf, type ResultView } from './result-view.ts';
import { happened, type Span } from './span.ts';
import { timelineOf, type TimelineView } from './timeline-view.ts';

/** All that a report shows. */
export interface ReportView {
  readonly head: RunRecord['head'];
  readonly isWhole: boolean;
  /** Lines of the record that could not be read. */
  readonly leftOut: number;
  readonly result: ResultView;
  /** The first one first. */
  readonly failures: readonly FailureView[];
  readonly phases: readonly PhaseView[];
  readonly timeline: TimelineView;
  /** The changes and waits that lasted longest, in the order of their duration. */
  readonly longest: readonly Span[];
  readonly plan: PlanView;
  readonly findings: readonly FindingView[] | undefined;
  /** What the operator should know later, as the run said it. */
  readonly notes: readonly { readonly host: string; readonly summary: string }[];
  readonly cluster: ClusterView;
  readonly ports: PortsView | undefined;
  readonly certificates: CertificatesView | undefined;
}

/** How many of the longest changes and waits a report lists. */
const LONGEST = 200;

/** What a report shows of a record. Pure. */
export function reportView(record: RunRecord): ReportView {
  const all = happened(record);
  const phases = phasesOf(record, all);
  return {
    head: record.head,
    isWhole: record.isWhole,
    leftOut: record.leftOut,
    result: resultOf(record, all),
    failures: failuresOf(record),
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
