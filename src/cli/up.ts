import { checkKubeconfigPath, kubeconfigPath, writeKubeconfig } from './kubeconfig-file.ts';
import { converge } from '../engine/converge.ts';
import { holdLease, type Lease } from '../engine/lease.ts';
import { lockHosts } from '../engine/lock.ts';
import { stillCounts } from '../engine/still-counts.ts';
import { restartsOf } from '../engine/restarts.ts';
import { changeId, changesIn, plan, type Plan } from '../engine/plan.ts';
import type { Phase } from '../engine/step.ts';
import { selected } from '../engine/target.ts';
import { exitCodeOf, mostSerious, SeveralErrors, UsageError, worstExitCode } from '../errors.ts';
import { up } from '../phases/up.ts';
import { findingsText } from '../report/findings.ts';
import { planText } from '../report/plan.ts';
import type { UpOptions } from './commands/up.ts';
import type { Context } from './context.ts';
import { DEFAULT_CONCURRENCY } from './options.ts';
import {
  findings,
  leaveOutRefused,
  obstacles,
  refuseForeign,
  selectionOf,
  surveyFirstChanged,
} from './session/preflight.ts';
import { apiHost } from './session/api-host.ts';
import { refuseWithoutApi } from './session/dead-hosts.ts';
import { partOf, tellLeftOut } from './session/left-out.ts';
import { tellFailures } from './session/failure-reports.ts';
import { withRun, type Run } from './session/run.ts';
import { dataKept, snapshotBefore } from './session/snapshots.ts';
import { holder, isGone } from './session/holder.ts';

const REFUSED = 7;

/** The command after which the cluster holds what a snapshot held, its Lease too. */
export const RESTORES = 'etcd snapshot restore';

/** The phases of this run: without hosts that cannot be reached, and without what `--hosts` and `--phase` leave out. */
export function phasesOf(run: Run, all: readonly Phase[]): readonly Phase[] {
  const missing = new Set(run.connected.watch.fleet().unreachable.map(({ host }) => host.name));
  const reached = all.map(
    (phase): Phase => ({ ...phase, hosts: phase.hosts.filter(({ name }) => !missing.has(name)) }) as Phase,
  );
  return selected(reached, selectionOf(run));
}

/** A plan that can be carried out. @throws what a step refused or could not tell. */
export function planOf(run: Run, phases: readonly Phase[]): Plan {
  const made = plan(phases, run.inventory, run.connected.watch.fleet());
  if (made.errors.length > 0) throw new SeveralErrors(made.errors.map(({ error }) => error));
  return made;
}

/** Asks once, unless `--yes`; false: declined. @throws UsageError when nobody can be asked. */
export async function confirmed(run: Run, question: string): Promise<boolean> {
  if (run.flags.yes === true) return true;
  const { context } = run;
  if (!context.canAsk) {
    throw new UsageError('changes are due and there is no terminal to ask on; nothing was changed', {
      remedy: 'pass --yes to go ahead without a question',
    });
  }
  return /^y(es)?$/i.test((await context.ask(`${question} [y/N] `)).trim());
}

/** Hosts of these phases that may be changed though they are foreign: their own names were typed. */
export type Confirmed = ReadonlySet<string>;

/** Asked once more under the lock: what was observed before it may have changed. @throws Refused */
function refuseForeignHosts(run: Run, phases: readonly Phase[], typed: Confirmed): void {
  const names = phases.flatMap(({ hosts }) => hosts.map(({ name }) => name));
  const asked = [...new Set(names)].filter((name) => !typed.has(name));
  if (asked.length > 0) refuseForeign(run, asked);
}

/**
 * Carries out a confirmed plan under the lock; returns the exit code of what failed, 0 for nothing. @throws Refused when a host
 * turned out to be foreign under the lock
 */
export async function carryOut(
  run: Run,
  command: string,
  list: (run: Run) => readonly Phase[],
  agreed: Plan,
  typed: Confirmed = new Set(),
): Promise<number> {
  const { connected, context, flags, inventory, emit, signal } = run;
  const lock = await lockHosts(connected.remotes, holder(run, command));
  emit({ kind: 'locked', hosts: connected.remotes.length });
  void lock.lost.then((error) => run.abort(error));
  let lease: Lease | undefined;
  try {
    lease = await holdLease(() => apiHost(connected), holder(run, command), {
      isGone,
      signal,
      ...(command === RESTORES ? { replacesData: true } : {}),
      onWait: (heldBy) =>
        context.err(`the cluster is locked: held ${heldBy}; if that is not renewed within 45 s, this run takes it\n`),
    });
    void lease.lost.then((error) => run.abort(error));
    if (!stillCounts(connected.watch.fleet(), lock, context.nowMs() - connected.lookedAtMs))
      await connected.lookAgain();
    const phases = phasesOf(run, list(run));
    refuseForeignHosts(run, phases, typed);
    const due = planOf(run, phases).changes;
    const known = new Set(agreed.changes.map(changeId));
    const beyond = changesIn(due).filter((change) => !known.has(changeId(change)));
    if (beyond.length > 0) {
      context.err(`the plan grew meanwhile:\n${planText(phases, beyond, restartsOf(run.inventory, beyond))}`);
      if (!(await confirmed(run, 'Carry out these too?'))) return 0;
    }
    await run.draw(phases);
    const { failures, stopped } = await converge({
      inventory,
      phases,
      watch: connected.watch,
      on: connected.on,
      held: lock.held,
      planned: new Set([...known, ...beyond.map(changeId)]),
      approve: async (summary) => {
        await run.stopDrawing();
        return confirmed(run, `${summary}\nThis was not in the plan. Do it?`);
      },
      emit,
      concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY,
      signal,
      nowMs: context.nowMs,
      sleep: context.sleep,
    });
    await run.stopDrawing();
    await tellFailures(run, failures);
    const code = worstExitCode([...failures.values()]);
    if (stopped !== undefined && mostSerious([code, exitCodeOf(stopped)]) === exitCodeOf(stopped)) throw stopped;
    if (stopped !== undefined) context.err(`${stopped.message}\n`);
    if (code !== 0) context.err(`full log: ${run.logPath}\n`);
    // A refusal stays one until somebody decides.
    if (code !== 0 && code !== REFUSED) context.err('run the same command again to go on from here\n');
    return code;
  } finally {
    await lease?.release();
    await lock.release();
  }
}

/** `kbuild up`: checks, plans, asks, locks, makes it so, verifies. */
export const runUp = (outer: Context, flags: UpOptions): Promise<number> =>
  withRun(outer, flags, 'up', 'as-json', async (run) => {
    const { context } = run;
    leaveOutRefused(run);
    const found = findings(run);
    const noted = found.filter(({ severity }) => severity === 'warning');
    if (noted.length > 0 && flags.quiet !== true) context.err(findingsText(noted));
    const obstacle = obstacles(run, found);
    if (obstacle !== undefined) throw obstacle;
    await refuseWithoutApi(run);
    const list = (): readonly Phase[] => partOf(run, up(run.inventory, snapshotBefore(run), dataKept(run))).phases;
    const { phases, waiting } = partOf(run, up(run.inventory));
    const kubeconfig = kubeconfigPath(run, flags.kubeconfig);
    const agreed = planOf(run, phases);
    if (agreed.changes.length === 0) {
      await writeKubeconfig(run, kubeconfig, 'if-missing');
      if (flags.json !== true) context.out('nothing to do\n');
      return mostSerious(tellLeftOut(run, waiting));
    }
    await checkKubeconfigPath(kubeconfig);
    await surveyFirstChanged(run, new Set(agreed.changes.map(({ host }) => host)));
    context.err(planText(phases, agreed.changes, restartsOf(run.inventory, agreed.changes)));
    // Where hosts are only waited for, there is nothing to agree to.
    if (changesIn(agreed.changes).length > 0 && !(await confirmed(run, 'Carry out this plan?'))) return 0;
    const code = await carryOut(run, 'up', list, agreed);
    if (code === 0) await writeKubeconfig(run, kubeconfig, 'always');
    return mostSerious([code, ...tellLeftOut(run, waiting)]);
  });
