import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checks } from '../checks/index.ts';
import { worstExitCode } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { observedLinux } from '../facts/fleet.ts';
import { findingsText } from '../report/findings.ts';
import { jsonDocument } from '../report/json.ts';
import { checkMarkdown } from '../report/plan-markdown.ts';
import { selects } from '../topology/select.ts';
import { junit } from '../report/junit.ts';
import type { CheckOptions } from './commands/check.ts';
import type { Context } from './context.ts';
import { placedFindings, placedRefusal, reportToPipeline } from './session/pipeline.ts';
import { findings, leaveOutRefused, obstacles } from './session/preflight.ts';
import { withRun } from './session/with-run.ts';
import { survey } from './session/survey.ts';
import { surveyPods } from './session/survey-pods.ts';

/** `kbuild check`: every preflight check, all findings at once. Reads only. */
export const runCheck = (outer: Context, flags: CheckOptions): Promise<number> =>
  withRun(outer, flags, { command: 'check', json: 'document', reportsUnreachable: true }, async (run) => {
    const { context } = run;
    leaveOutRefused(run);
    const fleet = run.connected.observations.fleet();
    const meant = fleet.hosts.filter(({ host }) => selects(run.flags.hosts, host.name));
    const hosts = meant.map(({ host }) => host.name);
    const about = observedLinux(fleet).filter(({ host }) => hosts.includes(host.name));
    const surveys = flags.active === true ? { ...(await survey(run, about)), pods: await surveyPods(run) } : undefined;
    const all = findings(run, surveys);
    const found = all.filter(({ host }) => host === undefined || selects(run.flags.hosts, host));
    if (flags.junit !== undefined) {
      const names = checks.map(({ name }) => name);
      await writeFile(
        resolve(context.cwd, flags.junit),
        junit(run.inventory.name, names, hosts, run.mask.value(found)),
      );
    }
    if (flags.json === true)
      context.out(jsonDocument<'check'>({ cluster: run.inventory.name, hosts, findings: found }));
    else
      context.out(
        found.length === 0
          ? `${String(hosts.length)} hosts: nothing found\n`
          : `${findingsText(found)}each check is explained in docs/checks.md\n`,
      );
    const obstacle = obstacles(run, found);
    await reportToPipeline(
      context,
      flags,
      () => [...placedRefusal(run, obstacle), ...placedFindings(run, run.mask.value(found))],
      () => checkMarkdown(run.inventory.name, hosts.length, run.mask.value(found)),
    );
    if (obstacle !== undefined && obstacle.exitCode !== EXIT.checks) throw obstacle;
    return Promise.resolve(obstacle?.exitCode ?? worstExitCode(fleet.unreachable.map(({ error }) => error)));
  });
