/** Two more seeds of the soak, beside the one in `npm run test:lab`: the same command ends the job. */
import { afterAll } from 'vitest';
import * as lab from '../lab.ts';
import { testSeeds } from '../soak-seeds.ts';

const HOSTS = ['slcp1', 'slw1', 'slw2'];

afterAll(() => lab.down(HOSTS));

testSeeds([22, 24], HOSTS);
