import { type CheckedFinding, stops } from '../engine/check.ts';
import { changesIn, type PlannedChange, waitsIn } from '../engine/plan.ts';
import { restartsOf } from '../engine/restarts.ts';
import { type KbuildError, mostSerious } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { eachLimit } from '../limit.ts';
import { findingsText } from '../report/findings.ts';
import { type DocumentOf, jsonDocument } from '../report/json.ts';
import { COMMENT_LIMIT, type Markdown, markdownText, planMarkdown, refusedMarkdown } from '../report/markdown.ts';
import { leftOutText, planText } from '../report/plan.ts';
import { planNote } from '../report/record/notes.ts';
import { grouped, hostList } from '../report/text.ts';
import type { Context } from '../session/context.ts';
import { placedFindings, placedRefusal, reportToPipeline } from '../session/inventory.ts';
import { DEFAULT_CONCURRENCY } from '../session/options.ts';
import { findings, leaveOutRefused, obstacles } from '../session/preflight.ts';
import { firstPlan, isUntold } from '../session/as-told.ts';
import {
  leftOutHosts,
  partOf,
  type Plannable,
  planNow,
  reportLeftOut,
  type Run,
  type RunPlan,
} from '../session/run.ts';
import { refuseWithoutApi, sameCommand } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import type { PlanOptions } from './up.command.ts';
import { up } from './up.phases.ts';

/** A change and what it would change, line by line; undefined where the change has nothing to show. */
type Previewed = PlannedChange & { readonly diff?: string };

/**
 * Reads what `plan --diff` shows of each change, many hosts at once. An error takes the place of what cannot be read.
 */
async function previewed({ connected, flags }: Run, changes: readonly PlannedChange[]): Promise<readonly Previewed[]> {
  const results = await eachLimit(changes, flags.concurrency ?? DEFAULT_CONCURRENCY, async (planned) => {
    const diff = await planned.change.preview?.(connected.on);
    return diff === undefined ? planned : { ...planned, diff };
  });
  return results.map((result, at) =>
    result.status === 'fulfilled'
      ? result.value
      : { ...changes[at]!, diff: `(could not be read: ${(result.reason as Error).message})` },
  );
}

/** Previews as text. The same preview of several hosts is shown once. */
const previewsText = (changes: readonly Previewed[]): string =>
  grouped(
    changes.filter(({ diff }) => diff !== undefined && diff !== ''),
    ({ diff }) => diff!,
    ({ summary }) => [summary],
  )
    .map(({ items, hosts, texts }) => `\n${hostList(hosts)}: ${texts[0]!}\n${items[0]!.diff!}\n`)
    .join('');

const shownAs = ({ phase, host, step, summary, diff }: Previewed): DocumentOf<'plan'>['changes'][number] => ({
  phase,
  host,
  step,
  summary,
  ...(diff === undefined ? {} : { diff }),
});

/** Why there is no plan, where a pipeline looks for it: a refusal, or the hosts that do not answer. */
function reportObstacle(run: Run, obstacle: KbuildError, found: readonly CheckedFinding[]): Promise<void> {
  const refusal = placedRefusal(run, obstacle);
  const reasons = refusal.length > 0 ? refusal : placedFindings(run, run.mask.value(found.filter(stops)));
  return reportToPipeline(
    run.context,
    {},
    () => reasons,
    () => refusedMarkdown(run.inventory.name, reasons),
  );
}

/** True if no plan can be made: whether there is a cluster is unknown, because a host does not answer. */
const hidesCluster = ({ connected }: Run, { exitCode }: KbuildError): boolean =>
  exitCode === EXIT.unreachable && connected.observations.fleet().cluster.state === 'absent';

/**
 * The plan of a run that an obstacle stops. What a host does not tell is not waited for: the obstacle may be why, e.g.
 * a host without systemd. @throws the obstacle in the place of FactErrors
 */
async function planBefore(run: Run, work: Plannable, obstacle: KbuildError): Promise<RunPlan> {
  try {
    return await planNow(run, work);
  } catch (error) {
    throw isUntold(error) ? obstacle : error;
  }
}

/** `kbuild plan`: what `up` would change. Reads only. */
export const runPlan = (outer: Context, flags: PlanOptions): Promise<number> =>
  withRun(outer, flags, { command: 'plan', json: 'document', reportsUnreachable: true }, async (run) => {
    const { context } = run;
    leaveOutRefused(run);
    const found = findings(run);
    const obstacle = obstacles(run, found);
    if (obstacle !== undefined && (obstacle.exitCode === EXIT.refused || hidesCluster(run, obstacle))) {
      await reportObstacle(run, obstacle, found);
      throw obstacle;
    }
    await refuseWithoutApi(run);
    const part = () => partOf(run, up(run.inventory));
    const work: Plannable = { phases: () => part().phases, refuse: () => undefined };
    const { phases, changes: planned } = await (obstacle === undefined
      ? firstPlan(run, work)
      : planBefore(run, work, obstacle));
    const { waiting } = part();
    run.note(planNote(run.inventory, { phases, changes: planned }));
    const changes = changesIn(planned);
    const shownChanges: readonly Previewed[] = flags.diff === true ? await previewed(run, changes) : changes;
    const restarts = restartsOf(run.inventory, planned);
    if (flags.json === true) {
      context.out(
        jsonDocument<'plan'>({
          cluster: run.inventory.name,
          changes: shownChanges.map(shownAs),
          waits: waitsIn(planned).map(shownAs),
          restarts,
          leftOut: { hosts: leftOutHosts(run), changes: waiting },
          findings: found,
        }),
      );
    } else if (flags.markdown !== true) {
      context.out(planText(phases, planned, restarts));
      // The error at the end names what stops `up`.
      const shown = found.filter((finding) => finding.severity !== 'due' && !stops(finding));
      if (shown.length > 0) context.err(findingsText(shown));
      context.out(previewsText(shownChanges));
      if (planned.length > 0 && obstacle === undefined) context.err(`next: ${sameCommand(run, 'up')}\n`);
    }
    const { unreachable } = run.connected.observations.fleet();
    // What is due is in the plan.
    const notable = found.filter(({ severity }) => severity !== 'due');
    const report = (): Markdown =>
      run.mask.value(
        planMarkdown({
          ...{ cluster: run.inventory.name, phases, planned, restarts },
          findings: notable,
          previews: previewsText(shownChanges),
          leftOut: leftOutText(unreachable, waiting),
        }),
      );
    if (flags.markdown === true) context.out(markdownText(report(), COMMENT_LIMIT));
    await reportToPipeline(context, {}, () => placedFindings(run, run.mask.value(notable)), report);
    const leftOut = reportLeftOut(run, waiting);
    if (obstacle !== undefined) throw obstacle;
    const missing = mostSerious(leftOut);
    if (missing !== 0) return missing;
    return flags.detailedExitcode === true && changes.length > 0 ? EXIT.changesDue : 0;
  });
