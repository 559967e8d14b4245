import type { RunRecord } from '../record/line.ts';
import { lineOf } from './line-of.ts';
import { counted, hostList } from '../host-list.ts';
import { lasting } from '../lasting.ts';
import type { Happened } from './span.ts';

/** How a run ended. `unfinished`: its record has no end. */
export type Outcome = 'done' | 'failed' | 'interrupted' | 'unfinished';

/** A run in one line, and its key figures. */
export interface ResultView {
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
export function resultOf(record: RunRecord, { spans, endMs, failures, interruptedMs }: Happened): ResultView {
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
