import { foreignHost } from '../cluster/change-refusals.ts';
import { leavingOf, type Leaving } from '../cluster/leaving.ts';
import { livingThere } from '../cluster/living-there.ts';
import { removalRefusals } from '../cluster/removal-refusals.ts';
import { leavingByReset, resetRefusals } from '../cluster/reset-refusals.ts';
import type { Phase } from '../engine/step.ts';
import { SeveralErrors, UsageError } from '../errors.ts';
import { selects } from '../topology/select.ts';
import { remove } from '../phases/remove.ts';
import { reset } from '../phases/reset.ts';
import { planText } from '../report/plan.ts';
import type { ResetOptions } from './commands/reset.ts';
import type { Context } from './context.ts';
import { commandWithDead } from './session/dead-hosts.ts';
import { forgetCluster } from './forget-cluster.ts';
import { drainOf } from './remove.ts';
import { snapshotBefore } from './session/snapshots.ts';
import { withRun, type Run } from './session/run.ts';
import { carryOut, phasesOf, planOf } from './up.ts';

/** The names that must be typed: the cluster's, or each host's. */
const toType = ({ flags, inventory }: Run): readonly string[] =>
  flags.hosts === undefined
    ? [inventory.name]
    : inventory.hosts.map(({ name }) => name).filter((name) => selects(flags.hosts, name));

/** What runs on foreign hosts that are about to be cleaned, as sentences. */
function alive({ connected, inventory }: Run, names: readonly string[]): string {
  const fleet = connected.watch.fleet();
  return fleet.hosts
    .filter((observed) => names.includes(observed.host.name) && foreignHost(inventory, fleet, observed) !== undefined)
    .map((observed) => ({ name: observed.host.name, found: livingThere(observed) }))
    .filter(({ found }) => found.length > 0)
    .map(({ name, found }) => ` A cluster may live on ${name}: ${found.join(', ')} runs there.`)
    .join('');
}

/** What is about to be destroyed, as the hosts show it. */
function scope(run: Run, names: readonly string[]): string {
  const { cluster } = run.connected.watch.fleet();
  if (run.flags.hosts !== undefined) return `This resets ${names.join(', ')}.${alive(run, names)}`;
  const seen =
    cluster.state === 'up'
      ? `${String(cluster.nodes.length)} nodes, CA ${cluster.caFingerprint}`
      : cluster.state === 'down'
        ? `its API does not answer: ${cluster.reason}`
        : 'no cluster answers; leftovers are removed';
  return `This destroys the cluster ${run.inventory.name} with all its data (${seen}).`;
}

/** Names that were given with `--yes-destroy`, or typed one by one. @throws UsageError for a wrong one, or nobody to ask. */
async function confirmedNames(
  run: Run,
  names: readonly string[],
  given: readonly string[] | undefined,
): Promise<readonly string[]> {
  const { context } = run;
  if (given === undefined && !context.canAsk) {
    throw new UsageError(`this needs the name of what is destroyed: ${names.join(', ')}; nothing was changed`, {
      remedy: `pass --yes-destroy ${names.join(',')}`,
    });
  }
  context.err(`${scope(run, names)}\n`);
  for (const name of names) {
    const typed = given === undefined ? [(await context.ask(`Type ${name} to go on: `)).trim()] : given;
    if (!typed.includes(name))
      throw new UsageError(`"${typed.join(',')}" is not ${name}; nothing was changed`, {
        remedy: `the name is ${name}`,
      });
  }
  return names;
}

/** `kbuild reset`: tears the cluster down, or cleans single hosts. */
export const runReset = (outer: Context, flags: ResetOptions): Promise<number> =>
  withRun(outer, flags, 'reset', 'as-json', async (run) => {
    const { context } = run;
    const { connected, inventory } = run;
    const fleet = connected.watch.fleet();
    const missing = fleet.unreachable.filter(({ host }) => !(flags.dead ?? []).includes(host.name));
    const needed = missing.filter(({ host }) => selects(flags.hosts, host.name));
    const leaving = (): readonly Leaving[] => {
      const seen = connected.watch.fleet();
      const names = leavingByReset(inventory, seen, flags.hosts);
      return names.length === 0 ? [] : leavingOf(inventory, seen, names);
    };
    if (needed.length > 0)
      throw new SeveralErrors(
        needed.map(({ error }) => error),
        {
          remedy: `make them reachable; if they are gone for good, reset the others: ${commandWithDead(
            run,
            needed.map(({ host }) => host.name),
          )}`,
        },
      );

    const names = toType(run);
    const refuse = (confirmed: readonly string[]): void => {
      const seen = connected.watch.fleet();
      const out = leaving();
      const refused = [
        ...resetRefusals(inventory, seen, { hosts: flags.hosts, confirmed }),
        ...(out.length === 0 ? [] : removalRefusals(inventory, seen, out)),
      ];
      if (refused.length > 0) throw refused.length === 1 ? refused[0]! : new SeveralErrors(refused);
    };
    // Decided once: while they leave, they look less and less like members.
    const members = leaving();
    const except = new Set(members.map(({ name }) => name));
    const list = (): readonly Phase[] => [
      ...remove(inventory, { leaving: members, drain: drainOf(flags), before: snapshotBefore(run) }),
      ...reset(inventory, { hosts: flags.hosts, except }),
    ];
    refuse(flags.hosts === undefined ? [] : names);
    // The list knows its hosts: who is gone is forgotten on others, which --hosts does not name.
    const carrying: Run = { ...run, flags: { ...flags, hosts: undefined, yes: true } };
    const phases = phasesOf(carrying, list());
    const agreed = planOf(carrying, phases);
    if (agreed.changes.length === 0) {
      if (flags.json !== true) context.out('nothing to do\n');
      return 0;
    }
    context.err(planText(phases, agreed.changes));
    const confirmed = await confirmedNames(run, names, flags.yesDestroy?.split(','));
    refuse(flags.hosts === undefined ? [] : confirmed);
    const { cluster } = fleet;
    const typed = new Set(flags.hosts === undefined ? [] : confirmed);
    const code = await carryOut(carrying, 'reset', list, agreed, typed);
    if (code === 0 && flags.hosts === undefined) await forgetCluster(run, cluster);
    return code;
  });
