import { expect } from 'vitest';
import type { Ran } from './kbuild.ts';

/** A kbuild that must have ended well; the test fails with all that it printed. */
export function ok(ran: Ran): Ran {
  expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
  return ran;
}

/** The same, and its time is printed under this name. */
export function timed(what: string, ran: Ran): Ran {
  ok(ran);
  console.log(`${what}: ${ran.seconds.toFixed(1)} s`);
  return ran;
}
