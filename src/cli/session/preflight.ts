import { checks, surveyChecks } from '../../checks/index.ts';
import type { CheckedFinding } from '../../checks/check.ts';
import { runChecks, stops } from '../../checks/run-checks.ts';
import { changeRefusals, refusedWorkers } from '../../cluster/change-refusals.ts';
import { refusals } from '../../cluster/refusals.ts';
import type { Selection } from '../../engine/target.ts';
import type { KbuildError } from '../../errors.ts';
import { ChecksFailed, SeveralErrors } from '../../errors.ts';
import { findingsText } from '../../report/findings.ts';
import type { Surveys } from '../../surveys/surveys.ts';
import { missingHosts } from './dead-hosts.ts';
import type { Run } from './run.ts';
import { firstChanged, survey } from './survey.ts';

/** Workers that `up` refuses leave the run as if they could not be reached: the others go on, and the exit code says so. */
export function leaveOutRefused({ connected, emit, flags, inventory }: Run): void {
  const refused = refusedWorkers(inventory, connected.watch.fleet(), flags.hosts);
  if (refused.length === 0) return;
  for (const { host, error } of refused) {
    emit({ kind: 'left-out', host: host.name, message: error.message });
  }
  connected.leaveOut(refused);
}

/** @throws Refused when the live cluster, or one of these hosts, is not the inventory's to change. */
export function refuseForeign(
  { connected, inventory }: Pick<Run, 'connected' | 'inventory'>,
  names: readonly string[],
): void {
  const refused = changeRefusals(inventory, connected.watch.fleet(), names);
  if (refused.length > 0) throw refused.length === 1 ? refused[0]! : new SeveralErrors(refused);
}

/** What a run may change, from its flags. */
export const selectionOf = ({ flags }: Run): Selection => ({ hosts: flags.hosts, phases: flags.phase });

/** All findings about the fleet as it was seen; `--ignore-check` and `ignoreChecks:` lower theirs to warnings. */
export function findings({ connected, inventory, flags }: Run, surveys?: Surveys): readonly CheckedFinding[] {
  const ignored = [...inventory.ignoreChecks, ...(flags.ignoreCheck ?? [])];
  const fleet = connected.watch.fleet();
  const seen = surveys === undefined ? fleet : { ...fleet, surveys };
  return runChecks(checks, { inventory, fleet: seen }, ignored);
}

/**
 * What stops a run before it changes anything, the most serious first: a refusal (7), a failed check (6), a host that
 * the cluster depends on and that cannot be reached (3). Undefined: nothing does.
 */
export function obstacles(run: Run, found: readonly CheckedFinding[]): KbuildError | undefined {
  const fleet = run.connected.watch.fleet();
  const refused = refusals(run.inventory, fleet, run.flags.hosts);
  if (refused.length > 0) return refused.length === 1 ? refused[0] : new SeveralErrors(refused);
  // Hosts that do not answer stop a run for a reason of their own, below.
  const bad = found.filter((finding) => stops(finding) && finding.check !== 'reachable');
  if (bad.length > 0) {
    const remedy = 'mend them, or lower one to a warning with --ignore-check NAME';
    return new ChecksFailed(`${String(bad.length)} checks failed; nothing was changed\n${findingsText(bad)}`, {
      remedy,
    });
  }
  return missingHosts(run);
}

/**
 * Makes the surveys about those of the hosts with changes due that are fresh; nothing where there are none. Says what
 * they found. @throws ChecksFailed
 */
export async function surveyFirstChanged(run: Run, changed: ReadonlySet<string>): Promise<void> {
  const first = firstChanged(run, changed);
  if (first.length === 0) return;
  const { context, flags } = run;
  if (flags.quiet !== true) context.err(`surveying ${String(first.length)} fresh hosts\n`);
  const found = findings(run, await survey(run, first)).filter(({ check }) =>
    surveyChecks.some(({ name }) => name === check),
  );
  const noted = found.filter(({ severity }) => severity === 'warning');
  if (noted.length > 0 && flags.quiet !== true) context.err(findingsText(noted));
  const obstacle = obstacles(run, found);
  if (obstacle !== undefined) throw obstacle;
}
