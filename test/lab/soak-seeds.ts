import { expect, test } from 'vitest';
import { soakRun } from './soak-run.ts';

/** A test of each seed of the soak, on hosts of these names. */
export const testSeeds = (seeds: readonly number[], hosts: readonly string[]): void =>
  test.for(seeds)('seed %i ends healthy', async (seed) => {
    const { faults, seconds, problems } = await soakRun(seed, hosts, (text) => console.log(text));
    console.log(`seed ${String(seed)}: ${faults.join(', ')}; ${String(seconds)} s in all`);
    expect(faults.length).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  });
