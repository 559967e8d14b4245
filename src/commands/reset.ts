import { foreignHost } from '../cluster/host.refusal.ts';
import { type Leaving, leavingOf } from '../cluster/removal.ts';
import { leavingByReset, membersSeen, removalRefusals, resetRefusals, unnamedIn } from '../cluster/remove.refusal.ts';
import { runningPrograms } from '../cluster/running-programs.ts';
import { throwAll, UsageError } from '../errors.ts';
import { selects } from '../inventory/hosts.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { firstPlan } from '../session/as-told.ts';
import { reachedPhases, reportNothingToDo, type Run, showPlan } from '../session/run.ts';
import { commandWithDead, refuseUnreachable } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { drainOf } from './drain-options.ts';
import type { ResetOptions } from './hosts.command.ts';
import { forgetCluster } from './kubeconfig.ts';
import { remove, reset } from './remove.phases.ts';
import { snapshotBefore } from './snapshots.ts';

/** The names that the operator must type: the cluster's, or each host's. */
const namesToType = ({ flags, inventory }: Run): readonly string[] =>
  flags.hosts === undefined
    ? [inventory.name]
    : inventory.hosts.map(({ name }) => name).filter((name) => selects(flags.hosts, name));

/** Sentences about what runs on the foreign hosts that are about to be cleaned. */
function livingText({ connected, inventory }: Run, names: readonly string[]): string {
  const fleet = connected.observations.fleet();
  return fleet.hosts
    .filter((observed) => names.includes(observed.host.name) && foreignHost(inventory, fleet, observed) !== undefined)
    .map((observed) => ({ name: observed.host.name, found: runningPrograms(observed) }))
    .filter(({ found }) => found.length > 0)
    .map(({ name, found }) => ` A cluster may live on ${name}: ${found.join(', ')} runs there.`)
    .join('');
}

/** A sentence about what the reset destroys, from the last observation. */
function scopeText(run: Run, names: readonly string[]): string {
  const fleet = run.connected.observations.fleet();
  const { cluster } = fleet;
  if (run.flags.hosts !== undefined) return `This resets ${names.join(', ')}.${livingText(run, names)}`;
  const seen =
    cluster.state === 'up'
      ? `${String(cluster.nodes.length)} nodes, CA ${cluster.caFingerprint}`
      : cluster.state === 'down'
        ? `its API does not answer: ${cluster.reason}`
        : 'no cluster answers; leftovers are removed';
  const left = unnamedIn(run.inventory, fleet);
  const stays = left.length === 0 ? '' : ` Not in the inventory, and left as they are: ${left.join(', ')}.`;
  const unknown = membersSeen(run.inventory, fleet) === undefined ? ' The members of etcd cannot be read.' : '';
  return `This destroys the cluster ${run.inventory.name} with all its data (${seen}).${stays}${unknown}`;
}

/**
 * Asks the operator to type each name, unless `given` by `--yes-destroy`. @throws UsageError for a wrong name, and if
 * there is no terminal
 */
async function confirmNames(run: Run, names: readonly string[], given: readonly string[] | undefined): Promise<void> {
  const { context } = run;
  if (given === undefined && !context.canAsk) {
    throw new UsageError(`this needs the name of what is destroyed: ${names.join(', ')}; nothing was changed`, {
      remedy: `pass --yes-destroy ${names.join(',')}`,
    });
  }
  context.err(`${scopeText(run, names)}\n`);
  for (const name of names) {
    const typed = given === undefined ? [(await context.ask(`Type ${name} to go on: `)).trim()] : given;
    if (!typed.includes(name))
      throw new UsageError(`"${typed.join(',')}" is not ${name}; nothing was changed`, {
        remedy: `the name is ${name}`,
      });
  }
}

/** The members of the live cluster that this reset takes out of it first, because other members stay. */
function leavingHosts({ connected, flags, inventory }: Run): readonly Leaving[] {
  const fleet = connected.observations.fleet();
  const names = leavingByReset(inventory, fleet, flags.hosts);
  return names.length === 0 ? [] : leavingOf(inventory, fleet, names);
}

/** `confirmed`: hosts that may be foreign, because the operator types their names. @throws Refused */
function refuseReset(run: Run, confirmed: readonly string[]): void {
  const { connected, flags, inventory } = run;
  const fleet = connected.observations.fleet();
  const leaving = leavingHosts(run);
  throwAll([
    ...resetRefusals(inventory, fleet, { hosts: flags.hosts, confirmed }),
    ...(leaving.length === 0 ? [] : removalRefusals(inventory, fleet, leaving)),
  ]);
}

/** `kbuild reset`: tears the cluster down, or cleans single hosts. */
export const runReset = (outer: Context, flags: ResetOptions): Promise<number> =>
  withRun(outer, flags, { command: 'reset', json: 'events' }, async (run) => {
    const { connected, inventory } = run;
    const { cluster } = connected.observations.fleet();
    refuseUnreachable(
      run,
      ({ name }) => selects(run.flags.hosts, name),
      (unreachable) =>
        `make them reachable; if they are gone for good, reset the others: ${commandWithDead(run, unreachable)}`,
    );
    const isWhole = run.flags.hosts === undefined;
    const names = namesToType(run);
    const typed = isWhole ? [] : names;
    // Computed once: after its first changes, a leaving host no longer appears as a member.
    const leaving = leavingHosts(run);
    const except = new Set(leaving.map(({ name }) => name));
    const work: Work = {
      phases: () =>
        reachedPhases(run, [
          ...remove(inventory, { leaving, drain: drainOf(inventory, flags), before: snapshotBefore(run) }),
          ...reset(inventory, { hosts: run.flags.hosts, except }),
        ]),
      refuse: () => refuseReset(run, typed),
      typedHosts: new Set(typed),
      mayGrow: true,
    };
    const plan = await firstPlan(run, work);
    if (plan.changes.length === 0) return reportNothingToDo(run);
    showPlan(run, plan);
    await confirmNames(run, names, flags.yesDestroy?.split(','));
    const { code, isDone } = await carryOut(run, work, plan);
    if (isDone && isWhole) await forgetCluster(run, cluster);
    return code;
  });
