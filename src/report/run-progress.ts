import type { TimedEvent } from '../engine/event.ts';
import type { Phase } from '../engine/step.ts';

/** A lock and its holder, as scripts print them. */
const LOCK = /^(\/\S+) is held by process \d+ \((.+)\)$/;

/** The kernel cuts the name of a process after so many characters. */
const KERNEL_CUTS = 15;

/**
 * The regular report of a job: `packages since 30 s: WHAT; connected to …; 12 kB in 30 s`. A screen shows the numbers
 * beside it.
 */
const REPORT = /^\S+ since \d+ s: (.*)$/;

const NUMBERS = /; (?:connected to [^;]*|\d+ kB in \d+ s)$/;

/** The work or the wait of a job, short enough for the line of a host: `lock held by NAME (/run/xtables.lock)`. */
export function shortWait(summary: string): string {
  const [, file, name] = LOCK.exec(summary) ?? [];
  if (file !== undefined && name !== undefined)
    return `lock held by ${name.length >= KERNEL_CUTS ? `${name}…` : name} (${file})`;
  const report = REPORT.exec(summary)?.[1];
  return report === undefined ? summary : shortWait(report.replace(NUMBERS, '').replace(NUMBERS, ''));
}

/** Bytes that a job has downloaded so far. */
interface Loaded {
  readonly bytes: number;
  readonly bytesPerSecond: number;
}

/** A host in a phase. Times are in ms since the epoch. */
export interface HostProgress {
  readonly name: string;
  state: 'waits' | 'works' | 'done' | 'failed';
  /** When it began the phase. */
  startedMs: number;
  /** Its work, or the reason why it waits; empty while it is only observed. */
  doing: string;
  /** Since when it does that. */
  sinceMs: number;
  loaded: Loaded | undefined;
  changes: number;
}

/** A phase of a run. `cut`: the run ended in the middle of it. */
export interface PhaseProgress {
  readonly name: string;
  readonly title: string;
  state: 'waits' | 'works' | 'done' | 'failed' | 'cut';
  /** In the order of the phase. */
  readonly hosts: Map<string, HostProgress>;
  startedMs: number;
  /** How long it took; 0 until it has ended. */
  durationMs: number;
  changes: number;
  /** The host that took longest. */
  longest: { readonly host: string; readonly ms: number } | undefined;
}

/** The progress of a run, by phase and host. */
export interface RunProgress {
  readonly note: (event: TimedEvent) => void;
  readonly phases: readonly PhaseProgress[];
  /** True when a phase has begun. */
  readonly hasBegun: () => boolean;
  /** Calls `act` after each event. */
  readonly onNote: (act: () => void) => void;
  /** True after the event `done`. */
  readonly isOver: () => boolean;
}

const newHost = (name: string): HostProgress => ({
  ...{ name, state: 'waits', startedMs: 0, doing: '', sinceMs: 0, loaded: undefined, changes: 0 },
});

const newPhase = ({ name, title }: Phase): PhaseProgress => ({
  ...{ name, title, state: 'waits', hosts: new Map<string, HostProgress>() },
  ...{ startedMs: 0, durationMs: 0, changes: 0, longest: undefined },
});

/** A host begins other work now. The same text again keeps its start time. */
function show(host: HostProgress | undefined, doing: string, sinceMs: number): void {
  if (host !== undefined && host.doing !== doing) Object.assign(host, { doing, sinceMs });
}

function begin(phase: PhaseProgress, hosts: readonly string[], nowMs: number): void {
  if (phase.state === 'waits') phase.startedMs = nowMs;
  // A phase that verifies runs again, if hosts may have changed since it verified them.
  else for (const host of phase.hosts.values()) if (host.state === 'done') host.state = 'waits';
  for (const name of hosts) if (!phase.hosts.has(name)) phase.hosts.set(name, newHost(name));
  phase.state = 'works';
}

const anyFailed = ({ hosts }: PhaseProgress): boolean => [...hosts.values()].some(({ state }) => state === 'failed');

function endHost(phase: PhaseProgress | undefined, name: string, event: { changes: number; durationMs: number }): void {
  const host = phase?.hosts.get(name);
  if (phase === undefined || host === undefined) return;
  host.state = 'done';
  host.changes += event.changes;
  phase.changes += event.changes;
  if (event.durationMs > (phase.longest?.ms ?? 0)) phase.longest = { host: name, ms: event.durationMs };
}

/** The wait of a host that an event reports; undefined for other events. */
function waitOf(
  event: TimedEvent,
): { readonly host: string; readonly text: string; readonly waitedMs: number } | undefined {
  if (event.kind === 'settling') return { host: event.host, text: `waits: ${event.summary}`, waitedMs: event.waitedMs };
  if (event.kind === 'job-waits') return { host: event.host, text: shortWait(event.summary), waitedMs: 0 };
  if (event.kind === 'job-followed') return { host: event.host, text: `waits: ${event.summary}`, waitedMs: 0 };
  return undefined;
}

/** The fields that all notes of a run have. */
interface Notes {
  readonly phases: ReadonlyMap<string, PhaseProgress>;
  /** The phase that a host is in. */
  readonly phaseOf: Map<string, PhaseProgress>;
  /** Where something was changed last: what a host waits for that is in no phase is shown there. */
  lastChanged: HostProgress | undefined;
}

const hostAt = (
  { phases }: Notes,
  event: { readonly phase: string; readonly host: string },
): HostProgress | undefined => phases.get(event.phase)?.hosts.get(event.host);

const hostNow = ({ phaseOf }: Notes, name: string): HostProgress | undefined => phaseOf.get(name)?.hosts.get(name);

function noteWait(notes: Notes, event: TimedEvent, nowMs: number): void {
  const wait = waitOf(event);
  if (wait === undefined) return;
  const its = event.kind === 'settling' ? hostAt(notes, event) : hostNow(notes, wait.host);
  if (its !== undefined) show(its, wait.text, nowMs - wait.waitedMs);
  else show(notes.lastChanged, `${wait.host}: ${wait.text}`, nowMs - wait.waitedMs);
}

function noteWork(notes: Notes, event: TimedEvent, nowMs: number): void {
  if (event.kind === 'host-started') {
    const host = hostAt(notes, event);
    if (host === undefined) return;
    Object.assign(host, { state: 'works', startedMs: nowMs, sinceMs: nowMs, doing: '', loaded: undefined });
    notes.phaseOf.set(event.host, notes.phases.get(event.phase)!);
  } else if (event.kind === 'changing') {
    notes.lastChanged = hostAt(notes, event);
    if (notes.lastChanged !== undefined) notes.lastChanged.loaded = undefined;
    show(notes.lastChanged, event.summary, nowMs);
  } else if (event.kind === 'changed') {
    const host = hostAt(notes, event);
    if (host !== undefined) Object.assign(host, { loaded: undefined, doing: '', sinceMs: nowMs });
  } else if (event.kind === 'job-loads') {
    const host = hostNow(notes, event.host);
    if (host !== undefined) host.loaded = { bytes: event.bytes, bytesPerSecond: event.bytesPerSecond };
  }
}

function noteEnd(notes: Notes, event: TimedEvent, nowMs: number): void {
  if (event.kind === 'failed') {
    const host = hostAt(notes, event);
    if (host !== undefined) host.state = 'failed';
    notes.phaseOf.delete(event.host);
  } else if (event.kind === 'host-done') {
    endHost(notes.phases.get(event.phase), event.host, event);
    notes.phaseOf.delete(event.host);
  } else if (event.kind === 'phase-done') {
    const phase = notes.phases.get(event.phase);
    if (phase === undefined) return;
    phase.state = anyFailed(phase) ? 'failed' : 'done';
    phase.durationMs = nowMs - phase.startedMs;
  }
}

/** Follows the events of a run. */
export function runProgress(list: readonly Phase[]): RunProgress {
  const phases = list.map(newPhase);
  const notes: Notes = {
    phases: new Map(phases.map((phase) => [phase.name, phase])),
    phaseOf: new Map(),
    lastChanged: undefined,
  };
  let isOver = false;
  let noted = (): void => undefined;
  return {
    phases,
    hasBegun: () => phases.some(({ state }) => state !== 'waits'),
    onNote: (act) => {
      noted = act;
    },
    isOver: () => isOver,
    note: (event) => {
      const nowMs = Date.parse(event.time);
      if (event.kind === 'phase-started') {
        const phase = notes.phases.get(event.phase);
        if (phase !== undefined) begin(phase, event.hosts, nowMs);
      }
      noteWait(notes, event, nowMs);
      noteWork(notes, event, nowMs);
      noteEnd(notes, event, nowMs);
      if (event.kind === 'done') {
        isOver = true;
        for (const phase of phases) if (phase.state === 'works') phase.state = 'cut';
      }
      noted();
    },
  };
}
