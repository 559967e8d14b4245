import type { Event, Reporter, TimedEvent } from '../engine/event.ts';
import { type RunSummary, summarizedRun } from './run-summary.ts';
import { counted, hostList, lasting } from './text.ts';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The reason why the run waits, and for how long already. */
const waitingText = (event: Extract<TimedEvent, { readonly kind: 'settling' | 'job-waits' }>): string => {
  const waitedS = event.kind === 'settling' ? Math.round(event.waitedMs / 1000) : 0;
  return `waiting${waitedS === 0 ? '' : ` for ${String(waitedS)} s`}: ${event.summary}`;
};

/** `all` (`-v`) also shows every command, and events that are otherwise summed up. */
type Detail = 'usual' | 'all';

/** A command on a host as a line of `-v`: that it begins, or how it ended. */
export function commandLine(entry: {
  readonly host: string;
  readonly command: string;
  readonly status?: number | string;
  readonly durationMs?: number;
}): string {
  const { host, command, status, durationMs = 0 } = entry;
  if (status === undefined) return `${host}: $ ${command} …`;
  return `${host}: $ ${command}: ${status === 0 ? 'ended' : `status ${String(status)}`} after ${seconds(durationMs)}`;
}

/** The line of an event that only `-v` shows. */
function detail(event: TimedEvent): string | undefined {
  if (event.kind === 'unreachable') return `! ${event.message}`;
  if (event.kind === 'left-out') return `! ${event.host} is left out, the other hosts go on: ${event.message}`;
  if (event.kind === 'host-started') return `${event.host}: begins ${event.phase}`;
  if (event.kind !== 'host-done') return undefined;
  const found = event.changes === 0 ? 'as it should be' : counted(event.changes, 'change');
  return `${event.host}: ${event.phase}: ${found} after ${seconds(event.durationMs)}`;
}

/** An event as a line; undefined if only `-v` or programs read it. */
export function line(event: TimedEvent): string | undefined {
  switch (event.kind) {
    case 'connecting':
      return `connecting to ${counted(event.hosts.length, 'host')}`;
    case 'hosts-awaited':
      return (
        `${String(event.answered)} of ${counted(event.hosts, 'host')} answered after ` +
        `${String(Math.round(event.waitedMs / 1000))} s; waiting for ${hostList(event.waiting)}`
      );
    case 'observed':
      return `observed ${counted(event.hosts, 'host')} in ${seconds(event.durationMs)}`;
    case 'locked':
      return `locked ${counted(event.hosts, 'host')}`;
    case 'phase-started':
      return `== ${event.title} (${hostList(event.hosts)})`;
    case 'changing':
      return `${event.host}: ${event.summary} …`;
    case 'changed':
      return `${event.host}: ${event.summary}: done in ${seconds(event.durationMs)}`;
    case 'unplanned':
      return `${event.host}: not in the plan: ${event.summary}`;
    case 'settling':
    case 'job-waits':
      return `${event.host}: ${waitingText(event)}`;
    case 'job-followed':
    case 'noted':
      return `${event.host}: ${event.summary}`;
    case 'failed':
      return `✖ ${event.host}: ${event.step} failed; the reason follows at the end`;
    case 'phase-done':
      return `== ${event.phase}: ${counted(event.changes, 'change')} in ${seconds(event.durationMs)}`;
    case 'interrupted':
      return event.summary;
    // Findings and the end of the run report these in full.
    case 'summary':
    case 'unreachable':
    case 'left-out':
    case 'waits-for-hosts':
    case 'done':
    case 'host-started':
    case 'host-done':
    // Its report every 30 s says it too.
    case 'job-loads':
      return undefined;
  }
}

/** One line an event, with the time of day: for pipelines and for terminals that cannot redraw. */
export function lineReporter(write: (text: string) => void, shown: Detail = 'usual'): Reporter {
  const silent = new Set<string>();
  return {
    report: (event) => {
      if (event.kind === 'unreachable') silent.add(event.host);
      const missing = event.kind === 'observed' && silent.size > 0 ? `; no answer from ${hostList([...silent])}` : '';
      const shownLine = line(event) ?? (shown === 'all' ? detail(event) : undefined);
      const text = shownLine === undefined ? undefined : shownLine + missing;
      if (text !== undefined) write(`${event.time.slice(11, 19)} ${text}\n`);
    },
    close: () => Promise.resolve(),
  };
}

/** The progress of a run, for the operator who interrupts it. */
export interface Standing {
  readonly note: (event: Event) => void;
  /** The changes so far, the work under way, and the reason why it waits. */
  readonly text: () => string;
  /** True if a change was begun, whether it succeeded or not. */
  readonly hasBegun: () => boolean;
  /** True while a change is under way, or the run waits for a host. */
  readonly isAtWork: () => boolean;
  /** Notes about hosts that stay true after the run, e.g. the path of a copy of data. */
  readonly notes: () => readonly string[];
  /**
   * The last line of a run that took the locks: how many changes, on how many hosts, in how long. Undefined for any
   * other.
   */
  readonly closing: (exitCode: number, durationMs: number) => string | undefined;
  /** What became of the hosts, and what took long; undefined for a run that changed nothing, and failed on no host. */
  readonly summary: () => RunSummary | undefined;
  /** Learns how many changes the plan has: the last line accounts for those that were not needed any more. */
  readonly plan: (changes: number) => void;
}

const INTERRUPTED = 130;

/** How many phases are named. */
const NAMED = 6;

/** The first names, and the number of the others. */
const few = (names: readonly string[]): string =>
  names.length <= NAMED
    ? names.join(', ')
    : `${names.slice(0, NAMED - 1).join(', ')} and ${String(names.length - NAMED + 1)} more`;

/** The end of a closing line: planned changes that did not happen, and hosts that failed. */
const restText = (spared: number, failed: ReadonlySet<string>): readonly string[] => [
  // E.g. a service that its package has started.
  ...(spared > 0 ? [`${counted(spared, 'planned change')} turned out not to be needed`] : []),
  ...(failed.size === 0 ? [] : [`failed: ${hostList([...failed])}`]),
];

/** The changes so far, the work under way, and the waits by host. */
function standingText(changes: number, underWay: readonly string[], waiting: ReadonlyMap<string, string>): string {
  const waits = [...waiting].map(([host, summary]) => `${host}: ${summary}`);
  return [
    changes === 0 ? 'nothing was changed yet' : `changes made so far: ${String(changes)}`,
    ...(underWay.length === 0 ? [] : [`under way: ${underWay.join('; ')}`]),
    ...(waits.length === 0 ? [] : [`waiting: ${waits.join('; ')}`]),
  ].join('; ');
}

/** Follows the events of a run. */
export function standing(): Standing {
  const underWay = new Map<string, string>();
  /** By host. */
  const waiting = new Map<string, string>();
  const changed = new Set<string>();
  const phases = new Set<string>();
  const failed = new Set<string>();
  const notes: string[] = [];
  const summarized = summarizedRun();
  let changes = 0;
  let planned = 0;
  let unplanned = 0;
  let hasBegun = false;
  let isLocked = false;
  return {
    note(event) {
      summarized.note(event);
      if (event.kind === 'locked') isLocked = true;
      if (event.kind === 'unplanned') unplanned += 1;
      if (event.kind === 'noted') notes.push(`${event.host}: ${event.summary}`);
      if (event.kind === 'settling' || event.kind === 'job-waits' || event.kind === 'job-followed')
        waiting.set(event.host, event.summary);
      if (event.kind === 'host-done') waiting.delete(event.host);
      if (event.kind !== 'changing' && event.kind !== 'changed' && event.kind !== 'failed') return;
      waiting.delete(event.host);
      const place = `${event.phase}/${event.host}/${event.step}`;
      hasBegun ||= event.kind === 'changing';
      if (event.kind === 'changing') underWay.set(place, `${event.host}: ${event.summary}`);
      else underWay.delete(place);
      if (event.kind === 'failed') failed.add(event.host);
      if (event.kind !== 'changed') return;
      changes += 1;
      changed.add(event.host);
      phases.add(event.phase);
    },
    text: () => standingText(changes, [...underWay.values()], waiting),
    hasBegun: () => hasBegun,
    isAtWork: () => underWay.size + waiting.size > 0,
    notes: () => notes,
    summary: summarized.summary,
    closing: (exitCode, durationMs) => {
      if (!isLocked) return undefined;
      const how = exitCode === 0 ? 'done' : exitCode === INTERRUPTED ? 'interrupted' : 'not finished';
      const what =
        changes === 0 ? 'nothing was changed' : `${counted(changes, 'change')} on ${counted(changed.size, 'host')}`;
      return [
        `${how}: ${what} in ${lasting(durationMs)}${phases.size === 0 ? '' : ` (${few([...phases])})`}`,
        ...restText(exitCode === 0 ? planned + unplanned - changes : 0, failed),
      ].join('; ');
    },
    plan: (count) => void (planned = count),
  };
}
