import { expect } from 'vitest';
import { EXIT } from '../../src/exit-codes.ts';
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
 * True if a run found nothing to change. It may have waited first: on a busy machine the API does not always answer the first look, and
 * `up` then verifies what it would have said at once.
 */
export const isUnchanged = ({ code, stdout, stderr }: Ran): boolean =>
  code === 0 && /nothing to do|done: nothing was changed/.test(stdout + stderr);

/** A run that must have found nothing to change. */
export function unchanged(ran: Ran): Ran {
  ok(ran);
  expect(isUnchanged(ran), ran.stdout + ran.stderr).toBe(true);
  return ran;
}

const MOST_TRIES = 6;

/** Runs a command once more, a few times at most, while it ends with such a code. Returns its last run. */
async function again(run: () => Promise<Ran>, isAgain: (code: Ran['code']) => boolean): Promise<Ran> {
  let ran = await run();
  for (let tries = 1; isAgain(ran.code) && tries < MOST_TRIES; tries++) ran = await run();
  return ran;
}

/** Runs a command again while it could not read a host or a busy API (exit 3), as kbuild asks for. Returns its last run. */
export const readable = (run: () => Promise<Ran>): Promise<Ran> => again(run, (code) => code === EXIT.unreachable);

/** A `status` that must find the cluster well. It is asked again a few times: on a busy machine an API server misses a probe of its own. */
export const well = async (status: () => Promise<Ran>): Promise<Ran> => ok(await again(status, (code) => code !== 0));
