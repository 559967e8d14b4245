import { refuseNoCluster } from '../cluster/live.ts';
import { refusedFor } from '../cluster/reasons.ts';
import { restartsOf } from '../engine/restarts.ts';
import { mostSerious, throwAll, UsageError } from '../errors.ts';
import { isPart, rebootReasons } from '../host/reboot.refusal.ts';
import { linuxHosts, linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { findings, leaveOutRefused, refuseAsUp, refuseForeign, refuseObstacles } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, partOf, reportLeftOut, reportNothingToDo, type Run, showOnly, showPlan } from '../session/run.ts';
import { refuseWithoutApi } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { awayAtOnce, rollingDrain } from './drain-options.ts';
import type { RebootOptions } from './hosts.command.ts';
import { reboot, rebootsOf } from './reboot.phases.ts';

/** @throws UsageError for a name that no host of the inventory has */
function checkHosts({ hosts }: Inventory, operands: readonly string[]): void {
  const unknown = operands.find((name) => hosts.every((host) => host.name !== name));
  if (unknown !== undefined)
    throw new UsageError(`"${unknown}" is no host of the inventory`, { remedy: 'name hosts as the inventory does' });
}

/** The hosts that the run may restart. @throws Refused for a host that it may not restart */
function hostsOf({ inventory, connected }: Run, operands: readonly string[]): readonly LinuxHost[] {
  const fleet = connected.observations.fleet();
  throwAll(refusedFor(rebootReasons, { inventory, fleet, operands }));
  const hosts = linuxHosts(inventory).filter((host) => isPart(fleet, host));
  return operands.length === 0 ? hosts : hosts.filter(({ name }) => operands.includes(name));
}

/** The phases of the run by what was observed last. */
function phasesOf(run: Run, flags: RebootOptions, hosts: readonly LinuxHost[]): ReturnType<typeof partOf> {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  const options = { ...rollingDrain(inventory, flags), atOnce: awayAtOnce(inventory, linuxWorkers(inventory), flags) };
  const which = flags.all === true ? 'all' : 'those that want it';
  return partOf(run, reboot(inventory, rebootsOf(fleet, hosts, which), options, fleet));
}

/** `kbuild reboot [HOST…]`: restarts the hosts that want it, one gate after another. */
export const runReboot = (outer: Context, flags: RebootOptions, operands: readonly string[]): Promise<number> =>
  withRun(
    outer,
    flags,
    {
      command: 'reboot',
      json: flags.plan === true ? 'document' : 'events',
      reportsUnreachable: true,
      checkInventory: (inventory) => checkHosts(inventory, operands),
    },
    async (run) => {
      const { inventory, connected } = run;
      refuseNoCluster({ inventory, fleet: connected.observations.fleet() });
      leaveOutRefused(run);
      refuseObstacles(run, findings(run));
      await refuseWithoutApi(run);
      const hosts = hostsOf(run, operands);
      const part = () => phasesOf(run, flags, hosts);
      const work: Work = {
        phases: () => part().phases,
        refuse: () => {
          refuseAsUp(run);
          refuseForeign(
            run,
            hosts.map(({ name }) => name),
          );
        },
        workersAtOnce: awayAtOnce(inventory, linuxWorkers(inventory), flags),
      };
      const plan = await firstPlan(run, work);
      const { waiting } = part();
      if (flags.plan === true) return showOnly(run, plan);
      if (plan.changes.length === 0) {
        reportNothingToDo(run);
        return mostSerious(reportLeftOut(run, waiting));
      }
      showPlan(run, plan, { restarts: restartsOf(inventory, plan.changes) });
      if (!(await confirmed(run, 'Carry out these reboots?'))) return 0;
      const { code } = await carryOut(run, work, plan);
      return mostSerious([code, ...reportLeftOut(run, waiting)]);
    },
  );
