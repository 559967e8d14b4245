import { DeadlinePassed, FactError, Interrupted, NotConverged, Refused } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { until } from '../wait.ts';
import type { Turns } from './batches.ts';
import { type Convergence, type Place, teller } from './convergence.ts';
import { inGoodHealth, refuseAfterBroken } from './health.ts';
import { ask } from './phases.ts';
import { changeId, isWait } from './plan.ts';
import type { Change, Phase } from './step.ts';

/**
 * Milliseconds between two observations while something settles, at least: a look at the cluster costs its control
 * plane seconds of CPU.
 */
export const POLL_MS = 500;
/** How long an unknown fact is observed again, in ms: an API server that just started, a busy host. */
export const UNTOLD_MS = 30_000;

/** True for a change that may read the cluster when it is made: it has the view that its diff had. */
const readsFleet = ({ apply, touches }: Change): boolean => apply !== undefined && touches !== 'host';

/** What is necessary now. What is foreseen was for the plan. */
const dueOf = (answer: ReturnType<ReturnType<typeof ask>>): readonly Change[] =>
  answer === 'not observed' ? [] : answer.filter(({ foreseen }) => foreseen !== true);

/** Pending changes, and whether the diff read the cluster: then they may change the cluster. */
interface Look {
  readonly due: readonly Change[];
  readonly sawCluster: boolean;
}

/** True when no step of the phase has a pending change on the host. False when a fact is unknown. */
export async function hasNoPendingChange(
  { inventory, observations }: Convergence,
  phase: Phase,
  host: Host,
): Promise<boolean> {
  try {
    for (const step of phase.steps) {
      const { value } = await observations.evaluate(ask(phase, step, host, inventory));
      if (dueOf(value).length > 0) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** True for a change after which pods or other hosts miss the host for a while. */
const takesAway = ({ disrupts, drains }: Change): boolean => disrupts === true || drains === true;

/**
 * One step on one host: diff, apply, observe, and the diff must be empty within the step's settle time. Returns how
 * many changes were applied. `paused`: no change was applied, because a pause between batches of workers has passed,
 * and earlier steps may have pending changes by now. `again`: no change was applied; the step waited, and after the
 * wait a change is pending.
 * @throws NotConverged, Refused, Interrupted, and what a change throws
 */
export async function stepOnHost(
  run: Convergence,
  turns: Turns,
  phase: Phase,
  host: Host,
  step: Phase['steps'][number],
): Promise<number | 'paused' | 'again'> {
  const { inventory, observations, nowMs } = run;
  const question = ask(phase, step, host, inventory);
  const place: Place = { phase: phase.name, host: host.name, step: step.name };
  const look = (untilMs: number, purpose: 'look' | 'change' = 'look'): Promise<Look> =>
    untilTold(run, place, untilMs, async () => {
      const { value, sawCluster } = await observations.evaluate(question, purpose);
      return { due: dueOf(value), sawCluster };
    });
  const named: readonly { readonly name: string }[] = phase.steps;
  const later = named.slice(named.findIndex(({ name }) => name === step.name) + 1);
  const forNextChange = purposeBefore(run, phase, host, later);
  const timesLost = await run.held(host.name);
  const seen = await look(nowMs() + UNTOLD_MS, purposeBefore(run, phase, host, [step, ...later]));
  if (seen.due.length === 0) return 0;
  const make = async (): Promise<number | 'again'> => {
    let found = seen;
    if ((await run.held(host.name)) !== timesLost) {
      // Another run may have held the locks meanwhile.
      observations.expireAll();
      found = await look(nowMs() + UNTOLD_MS);
    }
    if (found.sawCluster && found.due.some(readsFleet)) found = await look(nowMs() + UNTOLD_MS, 'change');
    const applied = await apply(run, phase, place, host, found);
    const mayFind = found.due.every(isWait);
    const ended = await settle(run, place, step.settleMs ?? 0, { look, firstPurpose: forNextChange, mayFind });
    // What was waited for is the work of another run: its job may just have joined the host.
    if (found.due.some(isWait)) observations.expireCluster();
    return ended === 'found' ? 'again' : applied;
  };
  if (!seen.due.some(takesAway)) return make();
  const batchCame = run.onTurn?.(host.name);
  const hasPaused = await turns.batches.enter(phase, place, host).finally(() => batchCame?.());
  if (hasPaused) return 'paused';
  refuseAfterBroken(turns, place, host);
  if (!seen.due.some(({ disrupts }) => disrupts === true)) return make();
  const turnCame = run.onTurn?.(host.name);
  return turns.take(host, () => {
    turnCame?.();
    return inGoodHealth(run, turns, place, host, make);
  });
}

function stopIfInterrupted(signal: AbortSignal, when: string): void {
  if (signal.aborted) throw new Interrupted(`interrupted ${when}`);
}

/** True for a confirmed change. The host of a cluster phase may differ: another control plane may act by now. */
const isPlanned = ({ planned }: Convergence, phase: Phase, place: Place): boolean =>
  planned.has(changeId(place)) ||
  (phase.kind === 'cluster' && phase.hosts.some(({ name }) => planned.has(changeId({ ...place, host: name }))));

/**
 * `change` if a planned change of these steps follows on the host: the parts of the cluster that it may read are then
 * observed together with those that the next diffs read. One after another, these observations took about a second
 * before each change of a control plane.
 */
const purposeBefore = (
  run: Convergence,
  phase: Phase,
  host: Host,
  steps: readonly { readonly name: string }[],
): 'look' | 'change' =>
  steps.some(({ name }) => isPlanned(run, phase, { phase: phase.name, host: host.name, step: name }))
    ? 'change'
    : 'look';

async function apply(
  run: Convergence,
  phase: Phase,
  place: Place,
  host: Host,
  { due, sawCluster }: Look,
): Promise<number> {
  const { observations, emit, nowMs, signal } = run;
  let applied = 0;
  for (const change of due) {
    if (change.apply === undefined) continue;
    if (!isPlanned(run, phase, place)) {
      emit({ kind: 'unplanned', ...place, summary: change.summary });
      if (!(await run.approve(`${host.name}: ${change.summary}`)))
        throw new Refused('unplanned-change', host.name, `not in the confirmed plan: ${change.summary}`);
    }
    // The run may have been interrupted or frozen while it waited for its turn or for the answer.
    await run.held(host.name);
    stopIfInterrupted(signal, 'before a change');
    if (phase.kind !== 'cluster') await run.beforeChange?.(host);
    applied += 1;
    const startedMs = nowMs();
    emit({ kind: 'changing', ...place, summary: change.summary });
    const touched = new Set([host.name]);
    try {
      await change.apply((other) => {
        touched.add(other.name);
        return run.on(other);
      });
    } finally {
      observations.expire([...touched]);
      if (sawCluster && change.touches !== 'host') observations.expireCluster();
    }
    emit({ kind: 'changed', ...place, summary: change.summary, durationMs: nowMs() - startedMs });
    stopIfInterrupted(signal, 'after a change');
  }
  return applied;
}

/** Observes again, until the deadline, while a fact is unknown. @throws FactError when it is still unknown then */
async function untilTold(run: Convergence, place: Place, deadlineMs: number, look: () => Promise<Look>): Promise<Look> {
  const { observations, nowMs, sleep, signal } = run;
  const tell = teller(run, place);
  let unknown: FactError | undefined;
  const observed = async () => {
    if (unknown !== undefined) {
      observations.expire([place.host, unknown.host]);
      observations.expireCluster();
    }
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof FactError) || nowMs() >= deadlineMs) throw error;
      tell(error.message);
      if (signal.reason instanceof DeadlinePassed) throw error;
      stopIfInterrupted(signal, 'while waiting');
      unknown = error;
      return undefined;
    }
  };
  return (await until(observed, Infinity, { pause: sleep, nowMs, everyMs: POLL_MS, isGentle: true }))!;
}

/** How something settles. */
interface Settling {
  readonly look: (untilMs: number, purpose?: 'look' | 'change') => Promise<Look>;
  readonly firstPurpose: 'look' | 'change';
  /** Nothing was applied: a change that shows when the wait is over has its turn then. */
  readonly mayFind: boolean;
}

/**
 * Observes until nothing is due; `found`: until something can be done about it. @throws NotConverged at the deadline,
 * Interrupted
 */
async function settle(
  run: Convergence,
  place: Place,
  settleMs: number,
  { look, firstPurpose, mayFind }: Settling,
): Promise<'settled' | 'found'> {
  const { observations, nowMs, sleep, signal } = run;
  const deadline = nowMs() + settleMs;
  const tell = teller(run, place);
  let before: Look | undefined;
  const settled = async () => {
    if (before !== undefined) observations.expire([place.host]);
    if (before?.sawCluster === true) observations.expireCluster();
    // Only the first look serves the next change, too: what is waited for is observed often.
    const purpose = before === undefined ? firstPurpose : 'look';
    before = await look(Math.max(deadline, nowMs() + UNTOLD_MS), purpose);
    if (before.due.length === 0) return 'settled';
    if (mayFind && !before.due.every(isWait)) return 'found';
    const summaries = before.due.map(({ summary }) => summary);
    // At the run's own deadline too: what was waited for is what an operator wants to know.
    if (nowMs() >= deadline || signal.reason instanceof DeadlinePassed)
      throw new NotConverged(place.host, place.step, summaries);
    tell(summaries.join('; '));
    stopIfInterrupted(signal, 'while waiting');
    return undefined;
  };
  return (await until(settled, Infinity, { pause: sleep, nowMs, everyMs: POLL_MS, isGentle: true }))!;
}
