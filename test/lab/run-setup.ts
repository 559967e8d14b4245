/** Of every run of the lab's tests: hosts that it brings up are ended when it ends, however it ends. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { currentRun, dropLogs, ownRun, whereLogsAre } from './test-run.ts';
import { endHosts } from './end-hosts.ts';

/** Vitest calls it for each of its projects, in a module of its own; it ends all of them after the last test. */
export function setup({ vitest }: TestProject): (() => Promise<void>) | undefined {
  const run = ownRun();
  if (currentRun() === run) return undefined;
  process.env['KBUILD_LAB_RUN'] = run;
  // Ctrl-C, SIGKILL: no teardown comes then. It ends when this process has ended, and its hosts.
  const tsx = join(import.meta.dirname, '../../node_modules/tsx/dist/cli.mjs');
  spawn(process.execPath, [tsx, join(import.meta.dirname, 'end-hosts.ts'), run], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
  }).unref();
  return async () => {
    await endHosts((one) => one === run);
    if (vitest.state.getCountOfFailedTests() > 0 || vitest.state.getFailedFilepaths().length > 0)
      console.error(`\n${whereLogsAre(run)}`);
    else await dropLogs(run);
  };
}
