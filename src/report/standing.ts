import type { Event } from '../engine/event.ts';

/** Where a run stands, for those who interrupt it. */
export interface Standing {
  readonly note: (event: Event) => void;
  /** What was done, what is being done now, and what that waits for. */
  readonly text: () => string;
  /** True when a change was begun, whatever became of it. */
  readonly hasBegun: () => boolean;
}

/** Follows the events of a run. */
export function standing(): Standing {
  const underWay = new Map<string, string>();
  /** By host. */
  const waiting = new Map<string, string>();
  let changes = 0;
  let hasBegun = false;
  return {
    note(event) {
      if (event.kind === 'settling' || event.kind === 'job-waits' || event.kind === 'job-followed')
        waiting.set(event.host, event.summary);
      if (event.kind === 'host-done') waiting.delete(event.host);
      if (event.kind !== 'changing' && event.kind !== 'changed' && event.kind !== 'failed') return;
      waiting.delete(event.host);
      const place = `${event.phase}/${event.host}/${event.step}`;
      if (event.kind === 'changing') hasBegun = true;
      if (event.kind === 'changing') underWay.set(place, `${event.host}: ${event.summary}`);
      else underWay.delete(place);
      if (event.kind === 'changed') changes += 1;
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
  };
}
