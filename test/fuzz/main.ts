/** `npm run fuzz [-- SEED]`: 1,000 inventories and the answers of 200 hosts that were changed at random. */
import { fuzzAnswers } from './answers.ts';
import { fuzzInventories } from './inventories.ts';
import type { Fuzzed } from './random.ts';

const seed = Number(process.argv[2] ?? 1);

function show(what: string, { runs, ends, slowestMs, faults }: Fuzzed): void {
  console.log(`${what}: ${String(runs)} runs, ${JSON.stringify(ends)}, slowest ${String(slowestMs)} ms`);
  for (const fault of faults) console.log(fault);
  if (faults.length > 0) process.exitCode = 1;
}

show('inventories', await fuzzInventories(1000, seed));
show('answers of a host', await fuzzAnswers(200, seed));
