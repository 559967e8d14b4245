/** Whose hosts are whose: a run of tests ends the hosts that it brought up, and keeps their logs when a test failed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostDir, labDir, paths } from './paths.ts';
import { processId } from './process-id.ts';

/** Where the logs of hosts are kept that a test run brought up, one folder a run. */
const LOGS = join(labDir, 'logs');
/** How many runs with a failed test keep their logs. */
const KEPT = 5;

/** The name of a run of tests that this process is: its number and when it started. */
export function ownRun(): string {
  const { pid, startTime } = processId(process.pid)!;
  return `${String(pid)}-${startTime}`;
}

/** The run of tests that this process belongs to, or undefined. */
export const currentRun = (): string | undefined => process.env['KBUILD_LAB_RUN'] || undefined;

/** Where the logs of a run are. */
export const logsOf = (run: string): string => join(LOGS, run);

/** Whether the process that a run of tests was still runs. */
export function runs(run: string): boolean {
  const [pid, startTime] = run.split('-');
  return processId(Number(pid))?.startTime === startTime;
}

/** Notes in a new host's folder, before it is one, that the current run made it. */
export async function noteRun(dir: string): Promise<void> {
  const run = currentRun();
  if (run !== undefined) await writeFile(join(dir, 'run'), run);
}

/** The run of tests that made a host; undefined for one that was made by hand. */
function runOf(name: string): string | undefined {
  const file = join(hostDir(name), 'run');
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** The hosts that a run of tests has brought up and not ended: of this run, or of all that have died. */
export const hostsOf = (names: readonly string[], isMeant: (run: string) => boolean): readonly string[] =>
  names.filter((name) => {
    const run = runOf(name);
    return run !== undefined && isMeant(run);
  });

/** Keeps what a host of a run of tests has logged, when its disk is thrown away: its console, its journal, its pods' logs. */
export async function keepLogs(name: string): Promise<void> {
  const run = runOf(name);
  if (run === undefined) return;
  const folder = join(logsOf(run), `${name}-${new Date().toISOString().replaceAll(/[-:]|\..*/g, '')}`);
  await mkdir(folder, { recursive: true });
  for (const [from, to] of [
    ['disk/upper/var/log', 'log'],
    ['console.log', 'console.log'],
  ] as const)
    if (existsSync(join(hostDir(name), from))) await rename(join(hostDir(name), from), join(folder, to));
}

/** Removes the logs of a run in which nothing failed, and those of all but the last few that are over. */
export async function dropLogs(run: string | undefined): Promise<void> {
  if (run !== undefined) await rm(logsOf(run), { recursive: true, force: true });
  if (!existsSync(LOGS)) return;
  const over = readdirSync(LOGS).filter((one) => !runs(one));
  const byAge = over.toSorted((a, b) => Number(b.split('-')[1]) - Number(a.split('-')[1]));
  for (const old of byAge.slice(KEPT)) await rm(logsOf(old), { recursive: true, force: true });
}

/** How to read them. */
export const whereLogsAre = (run: string): string =>
  `logs of the hosts of this run: ${logsOf(run)}/HOST-TIME/ (console.log; journalctl -D …/log/journal; log/pods), of hosts that still run: ${paths.hosts}/HOST/console.log and \`npm run lab -- inside HOST journalctl\`; of kbuild: ${logsOf(run)}/kbuild/CLUSTER/`;
