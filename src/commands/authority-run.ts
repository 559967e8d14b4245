import { runChecks, stops } from '../engine/check.ts';
import { restartsOf } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import { ChecksFailed, Refused } from '../errors.ts';
import { clockSkew } from '../host/time.check.ts';
import { findingsText } from '../report/findings.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, reachedPhases, reportNothingToDo, type Run, showOnly, showPlan } from '../session/run.ts';
import { commandWithDead, refuseUnreachable } from '../session/selection.ts';
import { checkKubeconfigPath, kubeconfigPath, writeKubeconfig } from './kubeconfig.ts';

/** A part of a change of authorities that the operator agrees to by itself. */
export interface Part {
  /** Its phases. `planned`: for the plan of a change that has not begun. */
  readonly phases: (when: 'planned' | 'now') => readonly Phase[];
  readonly question: string;
  /** What the operator should know before the question; called when the parts before are through. */
  readonly notes?: () => string;
  /** Throws what refuses this part, on top of what refuses the command. */
  readonly refuse?: () => void;
}

/** What a command changes, in order. */
interface Parts {
  readonly parts: readonly Part[];
  /** Throws what refuses the command; called for each part. */
  readonly refuse: () => void;
  /** True if an earlier run has begun it. */
  readonly hasBegun?: boolean;
  /** Printed when all parts are through. */
  readonly end?: () => string;
}

/**
 * @throws the errors of hosts that do not answer and that `--dead` does not name: they would be cut off, or be left
 * halfway; Refused for a control plane or etcd host that `--dead` names
 */
export function refuseAbsentHosts(run: Run): void {
  const gone = run.connected.observations
    .fleet()
    .unreachable.filter(
      ({ host, isDead }) => isDead === true && host.role !== 'worker' && host.role !== 'load-balancer',
    )
    .map(({ host }) => host.name);
  if (gone.length > 0)
    throw new Refused(
      'control-plane-away',
      gone.join(', '),
      'a control plane that is away would come back with other authorities than the rest',
      `take it out first: \`kbuild remove ${gone.join(' ')} --dead ${gone.join(',')}\``,
    );
  refuseUnreachable(
    run,
    ({ role }) => role !== 'load-balancer',
    (names) =>
      `every host must know the authorities: make ${names.join(', ')} reachable, or take ` +
      `${names.length === 1 ? 'it' : 'them'} out with \`kbuild remove\`; a worker that is gone for good: ` +
      `\`${commandWithDead(run, names)}\``,
  );
}

/**
 * New authorities begin by the clock of one host, and what started before a key is known by the clocks of others: no
 * check can be ignored here.
 * @throws ChecksFailed for a clock that differs, or is unknown
 */
function refuseSkewedClocks({ connected, inventory }: Run): void {
  const found = runChecks([clockSkew], { inventory, fleet: connected.observations.fleet() }).filter(stops);
  if (found.length === 0) return;
  throw new ChecksFailed(`authorities and keys change only while all clocks agree\n${findingsText(found)}`, {
    remedy: 'set these clocks, and run the same command again',
  });
}

/**
 * Plans one part by what the hosts show now, asks, and carries it out. Undefined: it is through; else the exit code.
 */
async function carryOutPart(
  run: Run,
  part: Part,
  { refuse, kubeconfig }: Pick<Parts, 'refuse'> & { readonly kubeconfig: string },
): Promise<number | undefined> {
  const work: Work = {
    phases: () => reachedPhases(run, part.phases('now')),
    refuse: () => {
      refuse();
      refuseSkewedClocks(run);
      part.refuse?.();
    },
  };
  const plan = await firstPlan(run, work);
  const notes = part.notes?.() ?? '';
  // A run that was cut off may have ended the part without writing it.
  if (plan.changes.length === 0) {
    await writeKubeconfig(run, kubeconfig, 'always');
    return undefined;
  }
  showPlan(run, plan, { restarts: restartsOf(run.inventory, plan.changes), notes });
  if (!(await confirmed(run, part.question))) return 0;
  const { code, isDone } = await carryOut(run, work, plan);
  if (!isDone) return code;
  // The operator's copy of admin.conf must trust what the API servers show next.
  await writeKubeconfig(run, kubeconfig, 'always');
  await run.connected.observeAgain();
  return undefined;
}

/**
 * Carries out a change of authorities, part by part: each is planned by what the hosts show then, and agreed to by
 * itself. Writes the administrator's kubeconfig after each. Returns the exit code. @throws ChecksFailed before a part
 * while clocks differ
 */
export async function changeAuthorities(
  run: Run,
  flags: { readonly plan?: boolean | undefined; readonly kubeconfig?: string | undefined },
  { parts, refuse, end, hasBegun = false }: Parts,
): Promise<number> {
  const all = await firstPlan(run, {
    phases: () =>
      reachedPhases(
        run,
        parts.flatMap(({ phases }) => phases(hasBegun ? 'now' : 'planned')),
      ),
    refuse,
  });
  if (flags.plan === true) return showOnly(run, all);
  if (all.changes.length === 0) return reportNothingToDo(run);
  const kubeconfig = kubeconfigPath(run, flags.kubeconfig);
  await checkKubeconfigPath(kubeconfig);
  for (const part of parts) {
    const code = await carryOutPart(run, part, { refuse, kubeconfig });
    if (code !== undefined) return code;
  }
  run.context.err(end?.() ?? '');
  return 0;
}
