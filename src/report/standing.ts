import type { Event } from '../engine/event.ts';

/** Where a run stands, for those who interrupt it. */
export interface Standing {
  readonly note: (event: Event) => void;
  /** What was done, and what is being done now, in one sentence or two. */
  readonly text: () => string;
}

/** Follows the events of a run. */
export function standing(): Standing {
  const underWay = new Map<string, string>();
  let changes = 0;
  return {
    note(event) {
      if (event.kind !== 'changing' && event.kind !== 'changed' && event.kind !== 'failed') return;
      const place = `${event.phase}/${event.host}/${event.step}`;
      if (event.kind === 'changing') underWay.set(place, `${event.host}: ${event.summary}`);
      else underWay.delete(place);
      if (event.kind === 'changed') changes += 1;
    },
    text: () => {
      const done = changes === 0 ? 'nothing was changed yet' : `changes made so far: ${String(changes)}`;
      return underWay.size === 0 ? done : `${done}; under way: ${[...underWay.values()].join('; ')}`;
    },
  };
}
