/** A recorded run as something to be shown: what was printed, and what happened when. Pure. */
import type { TimedEvent } from '../../src/engine/event.ts';
import type { PlannedChange } from '../../src/engine/plan.ts';
import type { Phase } from '../../src/engine/step.ts';
import { findingsText } from '../../src/report/findings.ts';
import { line } from '../../src/report/lines.ts';
import { planText } from '../../src/report/plan.ts';
import type { RecordLine, RunRecord } from '../../src/report/record/line.ts';

type NoteOf<K extends RecordLine['kind']> = Extract<RecordLine, { readonly kind: K }>;

/** How long the part that is drawn shall take at most, in ms. */
const SHOWN_MS = 40_000;

/** The phase that stands above all others: it says what is seen. */
export const RECORDING = 'recording';

/** One run, as it is played. */
export interface Playback {
  /** How many times as fast as it was; whole. */
  readonly speed: number;
  /** What `up` printed before it began: what it connected to and found, its findings, its plan. */
  readonly before: string;
  /** Phases in their order, that of the recording first. */
  readonly phases: readonly Phase[];
  /** What happened, in order of time. */
  readonly events: readonly TimedEvent[];
  /** The last line. */
  readonly result: string;
}

const phase = (name: string, title: string): Phase => ({ kind: 'cluster', name, title, hosts: [], steps: [] });

/** In a record each kind of line that an event does not have is a note. */
const NOTES: ReadonlySet<RecordLine['kind']> = new Set<RecordLine['kind']>([
  ...(['command', 'findings', 'plan', 'hosts-observed', 'cluster-observed', 'certificates-observed'] as const),
  ...(['ports-surveyed', 'waiting', 'waited', 'failure', 'error', 'end'] as const),
]);

const isEvent = (one: RecordLine): one is TimedEvent => !NOTES.has(one.kind);

const first = <K extends RecordLine['kind']>(lines: readonly RecordLine[], kind: K): NoteOf<K> | undefined =>
  lines.find((one): one is NoteOf<K> => one.kind === kind);

/** The plan as `up` prints it. Only `up` itself knows how to make a change: none can be made from here. */
function plannedText({ phases, changes, waits, restarts }: NoteOf<'plan'>): string {
  const planned: readonly PlannedChange[] = [
    ...changes.map((one) => ({ ...one, change: { summary: one.summary, apply: () => Promise.resolve() } })),
    ...waits.map((one) => ({ ...one, change: { summary: one.summary } })),
  ];
  const list = phases.map(({ name, title }) => phase(name, title));
  return planText(list, planned, restarts);
}

/** What is played of a record. @throws Error for a record without a plan or an end */
export function playback({ lines }: RunRecord): Playback {
  const [plan, findings, end] = [first(lines, 'plan'), first(lines, 'findings'), first(lines, 'end')];
  const begins = lines.findIndex(({ kind }) => kind === 'phase-started');
  if (plan === undefined || end === undefined || begins === -1) throw new Error('the record has no whole run');
  const events = lines.slice(begins).filter(isEvent);
  const tookMs = Date.parse(events.at(-1)!.time) - Date.parse(events[0]!.time);
  const speed = Math.max(1, Math.ceil(tookMs / SHOWN_MS));
  const printed = [first(lines, 'connecting'), first(lines, 'observed')].map((event) =>
    event === undefined ? '' : `${line(event) ?? ''}\n`,
  );
  // Those that begin in the record and are in no plan stand at the end.
  const titles = new Map(
    [
      ...plan.phases,
      ...events.flatMap((one) => (one.kind === 'phase-started' ? [{ name: one.phase, title: one.title }] : [])),
    ].map(({ name, title }) => [name, title]),
  );
  const title = `RECORDING, ${speed === 1 ? 'played as it was' : `played ${String(speed)} times as fast`}: nothing happens on this machine`;
  return {
    speed,
    before: `${printed.join('')}${findings === undefined ? '' : findingsText(findings.findings)}${plannedText(plan)}`,
    phases: [phase(RECORDING, title), ...[...titles].map(([name, its]) => phase(name, its))],
    events: withRecording(title, events),
    result: end.result,
  };
}

/** The events, with a phase of the recording around them, which is seen as long as anything is. */
function withRecording(title: string, events: readonly TimedEvent[]): readonly TimedEvent[] {
  const [begin, last] = [events[0]!, events.at(-1)!];
  const durationMs = Date.parse(last.time) - Date.parse(begin.time);
  const changes = events.reduce((sum, one) => sum + (one.kind === 'host-done' ? one.changes : 0), 0);
  const done = events.findIndex(({ kind }) => kind === 'done');
  const at = done === -1 ? events.length : done;
  return [
    { kind: 'phase-started', time: begin.time, phase: RECORDING, title, hosts: [RECORDING] },
    ...events.slice(0, at),
    { kind: 'host-done', time: last.time, phase: RECORDING, host: RECORDING, changes, durationMs },
    { kind: 'phase-done', time: last.time, phase: RECORDING, changes, durationMs },
    ...events.slice(at),
  ];
}

/** The record of a report that says what it is. */
export const asRecording = (record: RunRecord): RunRecord => ({
  ...record,
  head: { ...record.head, cluster: `${record.head.cluster} (a recording: nothing was built on this machine)` },
});

/** Lines that the recording is not played from: they make three quarters of a record, and only its trace has them. */
const LEFT_OUT: ReadonlySet<RecordLine['kind']> = new Set<RecordLine['kind']>(['command']);

/** A record made smaller, for the repository. `text`: NDJSON. */
export const smallRecord = (text: string): string =>
  text
    .split('\n')
    .filter((one) => one !== '' && !LEFT_OUT.has((JSON.parse(one) as RecordLine).kind))
    .map((one) => `${one}\n`)
    .join('');
