import type { HostProgress, PhaseProgress, RunProgress } from './run-progress.ts';
import { byteText, counted, cutToWidth, hostList, textWidth, timeText, visible } from './text.ts';

/** Of a terminal, in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The meaning of a line; `changed` and `unknown` are for rows that are observed again and again. */
export type Mark = 'waits' | 'works' | 'done' | 'failed' | 'skipped' | 'changed' | 'unknown' | 'none';

/** One line of a frame: `indent` columns, a mark, and a text of which `tail` is kept when it is too long. */
export interface FrameLine {
  readonly mark: Mark;
  readonly indent: number;
  readonly text: string;
}

/** A phase of more hosts shows a bar and its slowest hosts; one of fewer shows each host. */
const CROWD = 8;

/** Lines that are kept for hosts when phases alone would fill the window. */
const KEPT_FOR_HOSTS = 6;

const BAR = 20;

const ended = (phase: PhaseProgress): readonly HostProgress[] =>
  [...phase.hosts.values()].filter(({ state }) => state === 'done' || state === 'failed');

const failedText = (phase: PhaseProgress): string => {
  const failed = [...phase.hosts.values()].filter(({ state }) => state === 'failed').map(({ name }) => name);
  return failed.length === 0 ? '' : `, ${String(failed.length)} failed (${hostList(failed)})`;
};

/** A bar of `done` of `all`, full only when all are done. */
function bar(done: number, all: number): string {
  const full = Math.floor((BAR * done) / all);
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
}

/** `Join workers ████░░ 137 of 200 hosts, 2 min 3 s, 1 failed (w7)` */
function workingText(phase: PhaseProgress, columns: number, nowMs: number): string {
  const all = phase.hosts.size;
  const done = ended(phase).length;
  const time = timeText(nowMs - phase.startedMs);
  if (all === 1) return `${phase.title}: ${time}`;
  const count = `${String(done)} of ${counted(all, 'host')}, ${time}${failedText(phase)}`;
  return all > CROWD && columns >= 60 ? `${phase.title} ${bar(done, all)} ${count}` : `${phase.title}: ${count}`;
}

/** `Join workers: 200 hosts, 200 changes, 2 min 3 s, longest w7 48 s` */
function endedText(phase: PhaseProgress): string {
  const { title, hosts, changes, durationMs, longest } = phase;
  const many = hosts.size > 1;
  return [
    `${title}: ${many ? `${counted(hosts.size, 'host')}, ` : ''}` +
      (changes === 0 ? 'as it should be' : counted(changes, 'change')),
    `${timeText(durationMs)}${failedText(phase)}`,
    ...(many && longest !== undefined && longest.ms >= 1000 ? [`longest ${longest.host} ${timeText(longest.ms)}`] : []),
  ].join(', ');
}

function phaseLine(phase: PhaseProgress, columns: number, nowMs: number): FrameLine {
  switch (phase.state) {
    case 'waits':
      return { mark: 'waits', indent: 0, text: phase.title };
    case 'works':
      return { mark: 'works', indent: 0, text: workingText(phase, columns, nowMs) };
    case 'done':
      return { mark: 'done', indent: 0, text: endedText(phase) };
    case 'failed':
      return { mark: 'failed', indent: 0, text: endedText(phase) };
    case 'cut': {
      const count = `${String(ended(phase).length)} of ${counted(phase.hosts.size, 'host')}`;
      return { mark: 'failed', indent: 0, text: `${phase.title}: not finished, ${count}${failedText(phase)}` };
    }
  }
}

/** A host's name, cut so that most of the line is left for its work. */
const nameText = (name: string, columns: number): string => cutToWidth(name, Math.max(12, Math.floor(columns / 3)));

/**
 * The work of a host, cut so that the numbers and the time behind it stay: `w07: lock held by NAME (/run/xtables.lock),
 * 40 s`.
 */
function hostText(host: HostProgress, columns: number, nowMs: number): string {
  const name = nameText(host.name, columns);
  if (host.state === 'failed') return `${name}: failed`;
  if (host.state === 'done')
    return `${name}: ${host.changes === 0 ? 'as it should be' : counted(host.changes, 'change')}`;
  if (host.state === 'waits') return name;
  const { loaded } = host;
  const tail = [
    ...(loaded === undefined ? [] : [byteText(loaded.bytes), `${byteText(loaded.bytesPerSecond)}/s`]),
    ...(nowMs - host.sinceMs >= 1000 ? [timeText(nowMs - host.sinceMs)] : []),
  ].join(', ');
  const head = visible(host.doing === '' ? name : `${name}: ${host.doing}`).replaceAll(/[\n\t]+/g, ' ');
  const room = columns - textWidth(tail) - 2;
  return tail === '' || room < textWidth(name) ? head : `${cutToWidth(head, room)}, ${tail}`;
}

const hostLine = (host: HostProgress, columns: number, nowMs: number): FrameLine => ({
  mark: host.state,
  indent: 2,
  text: hostText(host, columns - 4, nowMs),
});

/** The hosts of a phase that are shown while it works, the most interesting first. */
function shownHosts(phase: PhaseProgress): readonly HostProgress[] {
  const hosts = [...phase.hosts.values()];
  if (hosts.length === 1) return hosts.filter(({ doing, loaded }) => doing !== '' || loaded !== undefined);
  if (hosts.length <= CROWD) return hosts;
  return atWork(phase);
}

/** The slowest first. */
const atWork = (phase: PhaseProgress): readonly HostProgress[] =>
  [...phase.hosts.values()].filter(({ state }) => state === 'works').toSorted((a, b) => a.startedMs - b.startedMs);

/** Lines below a phase. Where all of its hosts do not fit, its slowest ones and the number of the others. */
function hostLines(phase: PhaseProgress, room: number, columns: number, nowMs: number): readonly FrameLine[] {
  const all = shownHosts(phase);
  if (all.length <= room) return all.map((host) => hostLine(host, columns, nowMs));
  if (room === 0) return [];
  const busy = atWork(phase);
  if (busy.length <= room) return busy.map((host) => hostLine(host, columns, nowMs));
  const lines = busy.slice(0, room - 1).map((host) => hostLine(host, columns, nowMs));
  const rest = busy.length - lines.length;
  return [
    ...lines,
    {
      mark: 'none',
      indent: 2,
      text: `${lines.length === 0 ? '' : 'and '}${counted(rest, lines.length === 0 ? 'host' : 'more host')} at work`,
    },
  ];
}

/** How many lines each gets of those that all want: the same for all, as far as they want it. */
function shares(wanted: readonly number[], room: number): readonly number[] {
  const got = wanted.map(() => 0);
  let left = room;
  while (left > 0 && got.some((have, at) => have < wanted[at]!))
    for (const [at, want] of wanted.entries())
      if (left > 0 && got[at]! < want) {
        got[at]! += 1;
        left -= 1;
      }
  return got;
}

/** A phase, or several that share a line. */
type Row = PhaseProgress | FrameLine;

const isPhase = (row: Row): row is PhaseProgress => 'hosts' in row;

/** Phases of this state as one line, in the place of the first of them. */
function folded(rows: readonly Row[], state: 'waits' | 'done', text: (count: number) => string): readonly Row[] {
  const all = rows.filter((row) => isPhase(row) && row.state === state);
  if (all.length < 2) return rows;
  const line: FrameLine = { mark: state, indent: 0, text: text(all.length) };
  return rows.flatMap((row) => (row === all[0] ? [line] : all.includes(row) ? [] : [row]));
}

/** As many rows as fit: phases to come share a line first, then those that are done. */
function fitting(phases: readonly PhaseProgress[], room: number): readonly Row[] {
  if (phases.length <= room) return phases;
  const withoutLater = folded(phases, 'waits', (count) => `${String(count)} phases to come`);
  if (withoutLater.length <= room) return withoutLater;
  return folded(withoutLater, 'done', (count) => `${String(count)} phases done`);
}

/**
 * A run as it is drawn: one line a phase, and one for each host at work, as far as the window has room. All lines fit
 * into the window, with one column and one row to spare.
 */
export function liveFrame({ phases }: Pick<RunProgress, 'phases'>, size: Size, nowMs: number): readonly FrameLine[] {
  const rowsLeft = Math.max(1, size.rows - 1);
  const columns = size.columns - 1;
  const rows = fitting(phases, Math.max(1, rowsLeft - KEPT_FOR_HOSTS));
  const wanted = rows.map((row) => (isPhase(row) && row.state === 'works' ? shownHosts(row).length : 0));
  const rooms = shares(wanted, Math.max(0, rowsLeft - rows.length));
  return rows
    .flatMap((row, at): readonly FrameLine[] =>
      isPhase(row) ? [phaseLine(row, columns, nowMs), ...hostLines(row, rooms[at]!, columns, nowMs)] : [row],
    )
    .slice(0, rowsLeft);
}

/**
 * A run that has ended or is interrupted by a question: one line a phase. After a failure also phases that did not
 * begin.
 */
export function lastFrame({ phases, isOver }: RunProgress, size: Size, nowMs: number): readonly FrameLine[] {
  const isWhole = phases.every(({ state }) => state === 'waits' || state === 'done');
  return phases.flatMap((phase): readonly FrameLine[] => {
    if (phase.state !== 'waits') return [phaseLine(phase, size.columns - 1, nowMs)];
    return isWhole || !isOver() ? [] : [{ mark: 'skipped', indent: 0, text: `${phase.title}: not begun` }];
  });
}
