import { withoutAbsent, type WaitingChange, type Without } from '../../engine/absence.ts';
import type { Phase } from '../../engine/step.ts';
import { selected } from '../../engine/target.ts';
import { exitCodeOf } from '../../errors.ts';
import { leftOutText } from '../../report/left-out.ts';
import { selectionOf } from './preflight.ts';
import type { Run } from './run.ts';

/** What of these phases the run changes: without absent hosts, and without what `--hosts` and `--phase` leave out. */
export const partOf = (run: Run, phases: readonly Phase[]): Without =>
  withoutAbsent(selected(phases, selectionOf(run)), run.inventory, run.connected.watch.fleet());

/** Hosts that could not be reached. */
export const leftOutHosts = ({ connected }: Pick<Run, 'connected'>): readonly string[] =>
  connected.watch.fleet().unreachable.map(({ host }) => host.name);

/** Says which hosts the run left out, and which changes wait for them. Returns the exit codes of why they are missing. */
export function tellLeftOut(run: Run, waiting: readonly WaitingChange[]): readonly number[] {
  const { unreachable } = run.connected.watch.fleet();
  if (unreachable.length === 0) return [];
  run.emit({ kind: 'waits-for-hosts', hosts: leftOutHosts(run), changes: waiting });
  run.context.err(leftOutText(unreachable, waiting));
  return unreachable.map(({ error }) => exitCodeOf(error));
}
