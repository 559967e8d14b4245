import type { Note } from '../../report/record/line.ts';

type Waiting = Extract<Note, { readonly kind: 'waiting' }>;

/** Something that the run, or one of its hosts, waits for. */
export type Wait = Pick<Waiting, 'what' | 'host' | 'summary'>;

/** Begins a wait; the function that it returns ends it. The record gets waits that last. */
export type BeginWait = (wait: Wait) => () => void;

/** A shorter wait is none, in ms. */
const SHORTEST_MS = 100;

/** Waits of a run, as notes in its record. */
export function waitsOf(note: (note: Note) => void, nowMs: () => number): BeginWait {
  let count = 0;
  return (wait) => {
    const startMs = nowMs();
    let id: number | undefined;
    const timer = setTimeout(() => {
      id = count += 1;
      note({ kind: 'waiting', wait: id, ...wait });
    }, SHORTEST_MS).unref();
    return () => {
      clearTimeout(timer);
      if (id !== undefined) note({ kind: 'waited', wait: id, durationMs: nowMs() - startMs });
      id = undefined;
    };
  };
}
