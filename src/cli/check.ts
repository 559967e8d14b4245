import { worstExitCode } from '../errors.ts';
import { findingsText } from '../report/findings.ts';
import { jsonDocument } from '../report/json.ts';
import type { Context } from './context.ts';
import type { Flags } from './flags.ts';
import { findings, obstacles } from './preflight.ts';
import { withRun } from './run.ts';

/** `kbuild check`: every preflight check, all findings at once. Reads only. */
export const runCheck = (context: Context, flags: Flags): Promise<number> =>
  withRun(context, flags, 'check', 'never-json', async (run) => {
    const found = findings(run);
    const fleet = run.connected.watch.fleet();
    const hosts = fleet.hosts.map(({ host }) => host.name);
    if (flags.json === true) context.out(jsonDocument({ cluster: run.inventory.name, hosts, findings: found }));
    else context.out(found.length === 0 ? `${String(hosts.length)} hosts: nothing found\n` : findingsText(found));
    const obstacle = obstacles(run, found);
    if (obstacle !== undefined && obstacle.exitCode !== 6) throw obstacle;
    return Promise.resolve(obstacle?.exitCode ?? worstExitCode(fleet.unreachable.map(({ error }) => error)));
  });
