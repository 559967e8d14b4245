/**
 * Ends the hosts of a run of tests. As a program, `end-hosts.ts RUN`: waits until that run has ended, and then ends its hosts
 * and those of all runs that died before. KBUILD_LAB_KEEP=1: hosts stay.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { down, hostNames } from './lab.ts';
import { dropLogs, hostsOf, runs } from './test-run.ts';

/** Ends the hosts that these runs of tests brought up, and no other's. */
export async function endHosts(isMeant: (run: string) => boolean): Promise<void> {
  if (process.env['KBUILD_LAB_KEEP'] === '1') return;
  await down(hostsOf(hostNames(), isMeant));
}

const [run] = process.argv.slice(2);
if (import.meta.filename === process.argv[1] && run !== undefined) {
  while (runs(run)) await sleep(500);
  await endHosts((one) => !runs(one));
  await dropLogs(undefined);
}
