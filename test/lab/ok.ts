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

/**
 * A run that must have found nothing to change. It may have waited first: on a busy machine the endpoint does not always answer the
 * first look, and `up` then verifies what it would have said at once.
 */
export function unchanged(ran: Ran): Ran {
  ok(ran);
  expect(ran.stdout + ran.stderr).toMatch(/nothing to do|done: nothing was changed/);
  return ran;
}
