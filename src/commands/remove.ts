import { quorumIsLost } from '../cluster/member-host.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import { type Leaving, leavingOf } from '../cluster/removal.ts';
import { removalRefusals } from '../cluster/remove.refusal.ts';
import { throwAll, UsageError } from '../errors.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { refuseForeign } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, reachedPhases, reportNothingToDo, type Run, showPlan } from '../session/run.ts';
import { commandWithDead, refuseUnreachable } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { drainOf } from './drain-options.ts';
import type { RemoveOptions } from './hosts.command.ts';
import { remove } from './remove.phases.ts';
import { snapshotBefore } from './snapshots.ts';

/** Consequences of the removal that the operator should know before the question. */
function notes({ inventory, connected }: Run, leaving: readonly Leaving[]): string {
  const { cluster } = connected.observations.fleet();
  const names = new Set(leaving.map(({ name }) => name));
  const still = inventory.hosts.filter(({ name }) => names.has(name)).map(({ name }) => name);
  const controls =
    cluster.state === 'up' ? controlPlaneNodes(cluster).filter(({ name }) => !names.has(name)).length : 0;
  // Only with a stacked etcd does each control plane count for etcd's quorum.
  const even = inventory.etcd.topology === 'stacked' && controls % 2 === 0 && controls > 0;
  const { loadBalancer } = inventory;
  // kbuild cannot clean a host that is gone: when it boots again, its services start.
  const boots = leaving.filter(({ name, host, role }) => host === undefined && role === 'control-plane' && name !== '');
  const runsOn = leaving
    .filter(({ host }) => host === undefined)
    .map(({ name }) => name)
    .filter((name) => cluster.state === 'up' && cluster.nodes.some((node) => node.name === name && node.ready));
  return [
    ...(runsOn.length > 0
      ? [
          `kbuild does not clean ${runsOn.join(', ')}: it has no connection there. Stop the kubelet there for ` +
            'good, or reset the machine: else its node registers again.\n',
        ]
      : []),
    ...('address' in loadBalancer && boots.length > 0
      ? [
          `${boots.map(({ name }) => name).join(', ')} cannot be cleaned now: if it boots again, it claims the ` +
            `virtual address ${loadBalancer.address} too. Then run \`kbuild reset --hosts ` +
            `${boots.map(({ name }) => name).join(',')}\` with it in the inventory.\n`,
        ]
      : []),
    ...(still.length === 0
      ? []
      : [`The inventory still names ${still.join(', ')}: the next \`kbuild up\` joins them again.\n`]),
    ...(even
      ? [`${String(controls)} control planes remain: they bear no more failures than ${String(controls - 1)} would.\n`]
      : []),
  ].join('');
}

/** The hosts and nodes that leave the cluster. @throws Refused where quorum is lost; like `leavingOf` */
async function removedHosts({ connected, inventory }: Run, operands: readonly string[]): Promise<readonly Leaving[]> {
  const fleet = connected.observations.fleet();
  const lost = await quorumIsLost(connected.on, inventory, fleet, operands);
  if (lost !== undefined) throw lost;
  return leavingOf(inventory, fleet, operands);
}

/** @throws Refused when one of them must stay, or is not the inventory's */
function refuseRemoval(run: Run, operands: readonly string[], leaving: readonly Leaving[]): void {
  refuseForeign(run, operands);
  throwAll(removalRefusals(run.inventory, run.connected.observations.fleet(), leaving));
}

/** `kbuild remove HOST…`: takes hosts out of the live cluster, their etcd members included. */
export const runRemove = (outer: Context, flags: RemoveOptions, operands: readonly string[]): Promise<number> =>
  withRun(outer, flags, { command: 'remove', json: 'events', acceptsUnknownDead: true }, async (run) => {
    const { inventory } = run;
    if (operands.length === 0) throw new UsageError('name the hosts to remove', { remedy: 'kbuild remove w3' });
    refuseUnreachable(
      run,
      ({ name }) => operands.includes(name),
      (names) => `make them reachable; if they are gone for good: ${commandWithDead(run, names, operands)}`,
    );
    // Computed once: after its first changes, a leaving host no longer appears as a member.
    const leaving = await removedHosts(run, operands);
    const steps = { leaving, drain: drainOf(inventory, flags), before: snapshotBefore(run) };
    const work: Work = {
      phases: () => reachedPhases(run, remove(inventory, steps)),
      refuse: () => refuseRemoval(run, operands, leaving),
    };
    const plan = await firstPlan(run, work);
    if (plan.changes.length === 0) return reportNothingToDo(run);
    showPlan(run, plan, { notes: notes(run, leaving) });
    if (!(await confirmed(run, 'Carry out this plan?'))) return 0;
    const { code } = await carryOut(run, work, plan);
    return code;
  });
