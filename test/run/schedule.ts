/** Which parts run beside each other. */
import type { Outcome } from './outcome.ts';
import type { Part } from './parts.ts';

/** Parts beside the lab's build that run at the same time. */
const WIDTH = 2;
/** It mostly waits for Go's compiler and the network, and takes much longer than the others where nothing is cached. */
const BESIDE = 'lab build';

const isGood = (outcome: Outcome | undefined): boolean => outcome?.failed === 0;

/**
 * Runs each part when those before it have ended well, a part that is `alone` with nothing beside it. Returns how they ended, in the order
 * of their ends. A part whose predecessor failed, or was left out, does not run.
 */
export async function schedule(
  parts: readonly Part[],
  run: (part: Part) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const waiting = new Set(parts);
  const names = new Set(parts.map(({ name }) => name));
  const ended: Outcome[] = [];
  const running = new Map<string, Promise<void>>();
  const isReady = ({ name, after, alone }: Part): boolean =>
    after.filter((one) => names.has(one)).every((one) => isGood(ended.find((outcome) => outcome.name === one))) &&
    (alone === true
      ? running.size === 0
      : name === BESIDE || [...running.keys()].filter((one) => one !== BESIDE).length < WIDTH);
  for (;;) {
    for (const part of waiting) {
      if (!isReady(part)) continue;
      waiting.delete(part);
      running.set(
        part.name,
        run(part).then((outcome) => {
          ended.push(outcome);
          running.delete(part.name);
        }),
      );
      if (part.alone === true) break;
    }
    if (running.size === 0) return ended;
    await Promise.race(running.values());
  }
}
