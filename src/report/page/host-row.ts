import type { RunRecord } from '../record/line.ts';
import { lasting } from '../text.ts';
import { clock, lanesOf } from './html.ts';
import type { Happened, PhaseView, Span } from './phase-view.ts';

/** A part of a row. Times in ms since the start of the run. */
export interface Slice {
  readonly what: Span['what'] | 'crowd';
  /** The number of its phase; 0: none. */
  readonly number: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly lane: number;
  /** All that is known of it, in one line. */
  readonly text: string;
  readonly end: Span['end'];
  readonly isUnplanned: boolean;
  readonly isRestart: boolean;
  /** Of a crowd: the share of its hosts that were at work, from its start to its end. */
  readonly levels?: readonly number[];
}

/** A row of the timeline. */
export interface Row {
  readonly label: string;
  /** Below the label: a role, or how many hosts. */
  readonly detail: string;
  /** The title of a group that begins with this row; undefined in the middle of a group. */
  readonly heading?: string;
  readonly lanes: number;
  readonly slices: readonly Slice[];
  /** When the host failed, and the last thing that it did. */
  readonly failedMs: number | undefined;
}

/** What rows are made of. */
export interface Material {
  readonly record: RunRecord;
  readonly happened: Happened;
  readonly phases: readonly PhaseView[];
}

const ENDS: Readonly<Record<Span['end'], string>> = { done: '', failed: ', failed', 'cut off': ', not finished' };

const RESTART = /\b(?:restart|reboot)/i;

/** `prepare: set net.ipv4.ip_forward=1: 0.4 s, from 0:12 to 0:13` */
function sliceText(span: Span, title: string): string {
  const what = span.what === 'wait' ? `waits: ${span.summary}` : span.what === 'phase' ? title : span.summary;
  const where = span.host === '' ? 'the run' : span.host;
  const unplanned = span.isUnplanned ? ' (not in the plan)' : '';
  const times = `${lasting(span.toMs - span.fromMs)}, from ${clock(span.fromMs)} to ${clock(span.toMs)}`;
  return `${where}: ${what}${unplanned}: ${times}${ENDS[span.end]}`;
}

/** The slices of a host: its phases in lanes, and its changes and waits in the lane of their phase. */
function slicesOf(
  spans: readonly Span[],
  phases: readonly PhaseView[],
): { readonly slices: readonly Slice[]; readonly lanes: number } {
  const own = spans.filter(({ what }) => what === 'phase');
  const { lanes, count } = lanesOf(own);
  const laneAt = (span: Span): number => {
    const at = own.findIndex(
      ({ phase, fromMs, toMs }) =>
        (span.phase === '' || phase === span.phase) && fromMs <= span.toMs && toMs >= span.fromMs,
    );
    return lanes[at] ?? 0;
  };
  const order = { phase: 0, change: 1, wait: 2 } as const;
  const slices = spans
    .toSorted((a, b) => order[a.what] - order[b.what])
    .map((span): Slice => {
      const phase = phases.find(({ name }) => name === span.phase);
      return {
        what: span.what,
        number: phase?.number ?? 0,
        fromMs: span.fromMs,
        toMs: span.toMs,
        lane: span.what === 'phase' ? lanes[own.indexOf(span)]! : laneAt(span),
        text: sliceText(span, phase?.title ?? span.phase),
        end: span.end,
        isUnplanned: span.isUnplanned,
        isRestart: span.what === 'change' && RESTART.test(span.summary),
      };
    });
  return { slices, lanes: count };
}

/** The row of a host, or of the whole run if `host` is empty. */
export function hostRow(host: string, spans: readonly Span[], { record, happened, phases }: Material): Row {
  const known = record.head.hosts.find(({ name }) => name === host);
  return {
    label: host === '' ? 'whole run' : host,
    detail: known === undefined ? '' : known.os === 'windows' ? `Windows ${known.role}` : known.role,
    ...slicesOf(spans, phases),
    failedMs: happened.failures.find((failure) => failure.host === host)?.atMs,
  };
}
