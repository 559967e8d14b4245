import { changesIn } from '../engine/plan.ts';
import { restartsOf } from '../engine/restarts.ts';
import { mostSerious } from '../errors.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { findings, leaveOutRefused, refuseAsUp, refuseObstacles, surveyFirstChanged } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, partOf, reportLeftOut, reportNothingToDo, showPlan } from '../session/run.ts';
import { refuseWithoutApi } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { checkKubeconfigPath, kubeconfigPath, writeKubeconfig } from './kubeconfig.ts';
import { dataKept, snapshotBefore } from './snapshots.ts';
import type { UpOptions } from './up.command.ts';
import { up } from './up.phases.ts';

/** `kbuild up`: checks, plans, asks, locks, changes, verifies. */
export const runUp = (outer: Context, flags: UpOptions): Promise<number> =>
  withRun(outer, flags, { command: 'up', json: 'events', reportsUnreachable: true }, async (run) => {
    const { inventory } = run;
    leaveOutRefused(run);
    refuseObstacles(run, findings(run));
    await refuseWithoutApi(run);
    const part = () => partOf(run, up(inventory, snapshotBefore(run), dataKept(run)));
    const work: Work = { phases: () => part().phases, refuse: () => refuseAsUp(run), movesRuntimes: true };
    const plan = await firstPlan(run, work);
    const { waiting } = part();
    const kubeconfig = kubeconfigPath(run, flags.kubeconfig);
    if (plan.changes.length === 0) {
      await writeKubeconfig(run, kubeconfig, 'if-due');
      reportNothingToDo(run);
      return mostSerious(reportLeftOut(run, waiting));
    }
    await checkKubeconfigPath(kubeconfig);
    await surveyFirstChanged(run, new Set(plan.changes.map(({ host }) => host)));
    showPlan(run, plan, { restarts: restartsOf(inventory, plan.changes) });
    // A plan that only waits for hosts needs no confirmation.
    if (changesIn(plan.changes).length > 0 && !(await confirmed(run, 'Carry out this plan?'))) return 0;
    const { code, isDone } = await carryOut(run, work, plan);
    if (isDone) await writeKubeconfig(run, kubeconfig, 'always');
    return mostSerious([code, ...reportLeftOut(run, waiting)]);
  });
