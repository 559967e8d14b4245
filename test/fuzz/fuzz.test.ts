/** A small share of `npm run fuzz`, with fixed seeds. */
import { expect, test } from 'vitest';
import { fuzzAnswers } from './answers.ts';
import { fuzzInventories } from './inventories.ts';

test('inventories that were changed at random are good, or refused with the place of every problem', async () => {
  const { ends, faults } = await fuzzInventories(40, 1);
  expect(faults).toEqual([]);
  expect(ends['refused']).toBeGreaterThan(10);
}, 60_000);

test('answers of a host that were changed at random are told or unknown, and never a crash', async () => {
  const { ends, faults } = await fuzzAnswers(10, 1);
  expect(faults).toEqual([]);
  expect(ends['unknown']).toBeGreaterThan(0);
}, 60_000);
