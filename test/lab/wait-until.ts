import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from './errors.ts';

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
