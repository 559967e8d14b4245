/** A run of the lab leaves no host behind: what a run of tests brought up is ended with it, however the run ended, and nothing else. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endHosts } from './end-hosts.ts';
import * as lab from './lab.ts';
import { currentRun, logsOf, runs } from './test-run.ts';

const [LEFT, OURS, BY_HAND] = ['runw1', 'runw2', 'runw3'] as const;
/** A process number that Linux never gives. */
const DEAD = '4194305-1';
const own = currentRun();

const asRun = async (run: string | undefined, host: string): Promise<void> => {
  if (run === undefined) delete process.env['KBUILD_LAB_RUN'];
  else process.env['KBUILD_LAB_RUN'] = run;
  await lab.up([host]).finally(() => (process.env['KBUILD_LAB_RUN'] = own));
};

afterAll(async () => {
  await lab.down([LEFT, OURS, BY_HAND]);
  await rm(logsOf(DEAD), { recursive: true, force: true });
});

test('hosts of a run that died are ended and their logs kept; those of a run that lives, or made by hand, stay', async () => {
  await asRun(DEAD, LEFT);
  await asRun(own, OURS);
  await asRun(undefined, BY_HAND);
  await endHosts((run) => !runs(run));
  expect(lab.hostNames().filter((name) => [LEFT, OURS, BY_HAND].includes(name as never))).toEqual([OURS, BY_HAND]);
  const [kept] = (await readdir(logsOf(DEAD))).filter((name) => name.startsWith(LEFT));
  for (const file of ['console.log', 'log/journal']) expect(existsSync(join(logsOf(DEAD), kept!, file))).toBe(true);
});
