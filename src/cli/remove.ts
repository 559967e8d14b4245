import { controlPlaneNodes } from '../cluster/control-plane-nodes.ts';
import { leavingOf, type Leaving } from '../cluster/leaving.ts';
import { removalRefusals } from '../cluster/removal-refusals.ts';
import { quorumIsLost } from '../cluster/without-quorum.ts';
import type { Phase } from '../engine/step.ts';
import { SeveralErrors, UsageError } from '../errors.ts';
import type { Drain } from '../kubeadm/reset/leave-cluster.ts';
import { remove } from '../phases/remove.ts';
import { planText } from '../report/plan.ts';
import type { RemoveOptions } from './commands/remove.ts';
import type { Context } from './context.ts';
import { commandWithDead } from './session/dead-hosts.ts';
import type { Flags } from './options.ts';
import { withRun, type Run } from './session/run.ts';
import { refuseForeign } from './session/preflight.ts';
import { snapshotBefore } from './session/snapshots.ts';
import { carryOut, confirmed, phasesOf, planOf } from './up.ts';

const DRAIN_MS = 5 * 60_000;

/** How nodes are drained, by `--no-drain` and `--drain-timeout`. */
export const drainOf = (flags: Pick<Flags, 'drain' | 'drainTimeout'>): Drain =>
  flags.drain === false ? 'no' : { timeoutMs: flags.drainTimeout ?? DRAIN_MS };

/** What people should know before they agree. */
function notes({ inventory, connected }: Run, leaving: readonly Leaving[]): string {
  const { cluster } = connected.watch.fleet();
  const names = new Set(leaving.map(({ name }) => name));
  const still = inventory.hosts.filter(({ name }) => names.has(name)).map(({ name }) => name);
  const controls =
    cluster.state === 'up' ? controlPlaneNodes(cluster).filter(({ name }) => !names.has(name)).length : 0;
  // Beside an etcd of its own a single API server is enough.
  const even = inventory.etcd.topology === 'stacked' && controls % 2 === 0 && controls > 0;
  const { loadBalancer } = inventory;
  // A host that is gone is not contacted: nothing stops what starts there when it boots again.
  const boots = leaving.filter(({ name, host, role }) => host === undefined && role === 'control-plane' && name !== '');
  return [
    ...('address' in loadBalancer && boots.length > 0
      ? [
          `${boots.map(({ name }) => name).join(', ')} cannot be cleaned now: if it boots again, it claims the virtual address ${loadBalancer.address} too. Then run \`kbuild reset --hosts ${boots.map(({ name }) => name).join(',')}\` with it in the inventory.\n`,
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

/** `kbuild remove HOST…`: takes hosts out of the live cluster, their etcd members included. */
export const runRemove = (outer: Context, flags: RemoveOptions, operands: readonly string[]): Promise<number> =>
  withRun(outer, flags, 'remove', 'as-json', async (run) => {
    const { context } = run;
    const { connected, inventory } = run;
    if (operands.length === 0) throw new UsageError('name the hosts to remove', { remedy: 'kbuild remove w3' });
    const { unreachable } = connected.watch.fleet();
    const dead = new Set(flags.dead ?? []);
    const missing = unreachable.filter(({ host }) => operands.includes(host.name) && !dead.has(host.name));
    if (missing.length > 0)
      throw new SeveralErrors(
        missing.map(({ error }) => error),
        {
          remedy: `make them reachable; if they are gone for good: ${commandWithDead(
            run,
            missing.map(({ host }) => host.name),
            operands,
          )}`,
        },
      );

    const lost = await quorumIsLost(connected.on, inventory, connected.watch.fleet(), operands);
    if (lost !== undefined) throw lost;
    // Decided once: while they leave, they look less and less like members.
    const leaving = leavingOf(inventory, connected.watch.fleet(), operands);
    refuseForeign(run, operands);
    const refused = removalRefusals(inventory, connected.watch.fleet(), leaving);
    if (refused.length > 0) throw refused.length === 1 ? refused[0]! : new SeveralErrors(refused);
    const list = (): readonly Phase[] =>
      remove(inventory, { leaving, drain: drainOf(flags), before: snapshotBefore(run) });
    const phases = phasesOf(run, list());
    const agreed = planOf(run, phases);
    if (agreed.changes.length === 0) {
      if (flags.json !== true) context.out('nothing to do\n');
      return 0;
    }
    context.err(`${planText(phases, agreed.changes)}${notes(run, leaving)}`);
    if (!(await confirmed(run, 'Carry out this plan?'))) return 0;
    return carryOut(run, 'remove', list, agreed);
  });
