/** A seed of the soak (`npm run soak`): whatever fails at random moments, the same command ends the job. long/soak has more. */
import { afterAll } from 'vitest';
import * as lab from '../lab.ts';
import { testSeeds } from '../soak-seeds.ts';

const HOSTS = ['sscp1', 'ssw1', 'ssw2'];

afterAll(() => lab.down(HOSTS));

testSeeds([34], HOSTS);
