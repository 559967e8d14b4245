/** What a `--json` run of kbuild reports while it runs. */
import type { TimedEvent } from '../../src/engine/event.ts';
import { eventsOf, type Running } from './kbuild.ts';
import { waitUntil } from './wait-until.ts';

/** The events that a run has printed so far, without a line that is not whole yet. */
const eventsSoFar = ({ printed }: Running): readonly TimedEvent[] => {
  const text = printed();
  return eventsOf({ stdout: text.slice(0, text.lastIndexOf('\n') + 1) });
};

/** Returns the first event that is meant, as soon as the run has reported it. Throws LabError after the deadline, and if the run ends before. */
export async function reported(
  running: Running,
  what: string,
  deadlineMs: number,
  isMeant: (event: TimedEvent) => boolean,
): Promise<TimedEvent> {
  let ended = false;
  void running.ended.then(() => (ended = true));
  return waitUntil(`${what} of kbuild, which said ${running.said().slice(-2000)}`, deadlineMs, () => {
    // First this: what it printed at its end counts, too.
    const isOver = ended;
    const found = eventsSoFar(running).find(isMeant);
    if (found === undefined && isOver) throw new Error(`kbuild ended without ${what}: ${running.said()}`);
    return found;
  });
}
