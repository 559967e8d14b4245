import type { Event } from '../engine/event.ts';
import { counted, hostList } from './host-list.ts';
import { lasting } from './lasting.ts';

/** The progress of a run, for the operator who interrupts it. */
export interface Standing {
  readonly note: (event: Event) => void;
  /** The changes so far, the work under way, and what it waits for. */
  readonly text: () => string;
  /** True if a change was begun, whether it succeeded or not. */
  readonly hasBegun: () => boolean;
  /** True while a change is under way, or the run waits for a host. */
  readonly isAtWork: () => boolean;
  /** Notes about hosts that stay true after the run, e.g. the path of a copy of data. */
  readonly notes: () => readonly string[];
  /** The last line of a run that took the locks: what was changed, on how many hosts, in how long. Undefined for any other. */
  readonly closing: (exitCode: number, durationMs: number) => string | undefined;
}

const INTERRUPTED = 130;

/** How many phases are named. */
const NAMED = 6;

/** The first names, and the number of the others. */
const few = (names: readonly string[]): string =>
  names.length <= NAMED
    ? names.join(', ')
    : `${names.slice(0, NAMED - 1).join(', ')} and ${String(names.length - NAMED + 1)} more`;

/** Follows the events of a run. */
export function standing(): Standing {
  const underWay = new Map<string, string>();
  /** By host. */
  const waiting = new Map<string, string>();
  const changed = new Set<string>();
  const phases = new Set<string>();
  const failed = new Set<string>();
  const notes: string[] = [];
  let changes = 0;
  let hasBegun = false;
  let isLocked = false;
  return {
    note(event) {
      if (event.kind === 'locked') isLocked = true;
      if (event.kind === 'noted') notes.push(`${event.host}: ${event.summary}`);
      if (event.kind === 'settling' || event.kind === 'job-waits' || event.kind === 'job-followed')
        waiting.set(event.host, event.summary);
      if (event.kind === 'host-done') waiting.delete(event.host);
      if (event.kind !== 'changing' && event.kind !== 'changed' && event.kind !== 'failed') return;
      waiting.delete(event.host);
      const place = `${event.phase}/${event.host}/${event.step}`;
      if (event.kind === 'changing') hasBegun = true;
      if (event.kind === 'changing') underWay.set(place, `${event.host}: ${event.summary}`);
      else underWay.delete(place);
      if (event.kind === 'failed') failed.add(event.host);
      if (event.kind !== 'changed') return;
      changes += 1;
      changed.add(event.host);
      phases.add(event.phase);
    },
    text: () => {
      const done = changes === 0 ? 'nothing was changed yet' : `changes made so far: ${String(changes)}`;
      const waits = [...waiting].map(([host, summary]) => `${host}: ${summary}`);
      return [
        done,
        ...(underWay.size === 0 ? [] : [`under way: ${[...underWay.values()].join('; ')}`]),
        ...(waits.length === 0 ? [] : [`waiting: ${waits.join('; ')}`]),
      ].join('; ');
    },
    hasBegun: () => hasBegun,
    isAtWork: () => underWay.size + waiting.size > 0,
    notes: () => notes,
    closing: (exitCode, durationMs) => {
      if (!isLocked) return undefined;
      const how = exitCode === 0 ? 'done' : exitCode === INTERRUPTED ? 'interrupted' : 'not finished';
      const what =
        changes === 0 ? 'nothing was changed' : `${counted(changes, 'change')} on ${counted(changed.size, 'host')}`;
      return [
        `${how}: ${what} in ${lasting(durationMs)}${phases.size === 0 ? '' : ` (${few([...phases])})`}`,
        ...(failed.size === 0 ? [] : [`failed: ${hostList([...failed])}`]),
      ].join('; ');
    },
  };
}
