import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from './errors.ts';

/**
 * The deadline of what takes seconds on an idle machine, in ms. A busy one takes a hundred times as long, and no test depends
 * on how quick a machine is.
 */
export const PATIENCE_MS = 300_000;

/** Polls until `probe` answers something other than undefined or false. Throws LabError after `deadlineMs`. */
export async function waitUntil<T>(
  what: string,
  deadlineMs: number,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new LabError(`${what}: not within ${deadlineMs / 1000} s`);
    await sleep(25);
  }
}
