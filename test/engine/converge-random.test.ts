/** The tree of tasks and the loops before it do the same, whatever the run. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { converge } from '../../src/engine/converge.ts';
import { converge as byLoops } from './loops.ts';
import { anyRun, randomRun } from './random-run.ts';

/** Runs for the one comparison; `RUNS` asks for more. */
const RUNS = Number(process.env['RUNS'] ?? 1500);

test('the tree of tasks does what the loops did', { timeout: 600_000 }, async () => {
  const count = { all: 0, ended: 0, sameOrder: 0, sameEvents: 0, paused: 0, withFailures: 0 };
  await fc.assert(
    fc.asyncProperty(anyRun, async (given) => {
      const [before, now] = [await randomRun(byLoops, given), await randomRun(converge, given)];
      count.all += 1;
      if (before.failures.length > 0 || before.stopped !== undefined) count.withFailures += 1;
      if (JSON.stringify(before.order) === JSON.stringify(now.order)) count.sameOrder += 1;
      const facts = (run: typeof before) => ({ ...run, order: [], most: 0 });
      if (JSON.stringify(facts(before)) === JSON.stringify(facts(now))) count.sameEvents += 1;
      expect(now.most).toBeLessThanOrEqual(given.concurrency);
      expect(now.stopped).toEqual(before.stopped);
      expect(now.order.at(-1)).toMatch(/^done/);
      // Which of the other hosts were still at work when the run was ended is a race in both; so is which host is first in a batch.
      if (!before.endsAll && given.pauseMs === 0) expect(facts(now)).toEqual(facts(before));
      else if (!before.endsAll) {
        count.paused += 1;
        expect({ ...facts(now), perSubject: [] }).toEqual({ ...facts(before), perSubject: [] });
      } else {
        count.ended += 1;
        expect(now.endsAll).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
  console.log(JSON.stringify(count));
});
