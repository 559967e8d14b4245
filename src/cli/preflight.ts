import { checks } from '../checks/index.ts';
import { runChecks } from '../checks/run-checks.ts';
import { refusals } from '../cluster/refusals.ts';
import type { Selection } from '../engine/target.ts';
import { ChecksFailed, SeveralErrors, type KbuildError } from '../errors.ts';
import { findingsText, type NamedFinding } from '../report/findings.ts';
import type { Run } from './run.ts';

/** What a run may change, from its flags. */
export const selectionOf = ({ flags }: Run): Selection => ({ hosts: flags.hosts, phases: flags.phase });

/** All findings about the fleet as it was seen; `--ignore-check` and `ignoreChecks:` lower theirs to warnings. */
export function findings({ connected, inventory, flags }: Run): readonly NamedFinding[] {
  const ignored = [...inventory.ignoreChecks, ...(flags.ignoreCheck ?? [])];
  return runChecks(checks, { inventory, fleet: connected.watch.fleet() }, ignored);
}

/**
 * What stops a run before it changes anything, the most serious first: a refusal (7), a failed check (6), a host that
 * the cluster depends on and that cannot be reached (3). Undefined: nothing does.
 */
export function obstacles(run: Run, found: readonly NamedFinding[]): KbuildError | undefined {
  const fleet = run.connected.watch.fleet();
  const refused = refusals(run.inventory, fleet, run.flags.hosts);
  if (refused.length > 0) return refused.length === 1 ? refused[0] : new SeveralErrors(refused);
  const bad = found.filter(({ severity }) => severity === 'error' || severity === 'unknown');
  if (bad.length > 0) {
    const remedy = 'mend them, or lower one to a warning with --ignore-check NAME';
    return new ChecksFailed(`${String(bad.length)} checks failed; nothing was changed\n${findingsText(bad)}`, {
      remedy,
    });
  }
  const dead = run.flags.dead ?? [];
  const missing = fleet.unreachable.filter(({ host }) => host.role !== 'worker' && !dead.includes(host.name));
  return missing.length === 0 ? undefined : new SeveralErrors(missing.map(({ error }) => error));
}
