/** Three seeds of the soak (`npm run soak`): whatever fails at random moments, the same command ends the job. */
import { afterAll, expect, test } from 'vitest';
import * as lab from '../lab.ts';
import { soakRun } from '../soak-run.ts';

const HOSTS = ['sscp1', 'ssw1', 'ssw2'];

afterAll(() => lab.down(HOSTS));

test.for([22, 24, 34])('seed %i ends healthy', async (seed) => {
  const { faults, seconds, problems } = await soakRun(seed, HOSTS, (text) => console.log(text));
  console.log(`seed ${String(seed)}: ${faults.join(', ')}; ${String(seconds)} s in all`);
  expect(faults.length).toBeGreaterThan(0);
  expect(problems).toEqual([]);
});
