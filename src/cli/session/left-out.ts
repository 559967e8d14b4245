import { withoutAbsent, type WaitingChange, type Without } from '../../engine/absence.ts';
import type { Phase } from '../../engine/step.ts';
import { selected } from '../../engine/target.ts';
import { exitCodeOf } from '../../errors.ts';
import { leftOutText } from '../../report/left-out.ts';
import type { Run } from './run.ts';

/** The part of these phases that the run carries out: without absent hosts, limited by `--hosts` and `--phase`. */
export const partOf = ({ connected, flags, inventory }: Run, phases: readonly Phase[]): Without =>
  withoutAbsent(
    selected(phases, { hosts: flags.hosts, phases: flags.phase }),
    inventory,
    connected.observations.fleet(),
  );

/** Hosts that could not be reached. */
export const leftOutHosts = ({ connected }: Pick<Run, 'connected'>): readonly string[] =>
  connected.observations.fleet().unreachable.map(({ host }) => host.name);

/** Reports the hosts that the run left out, and the changes that wait for them. Returns the exit code of each host's error. */
export function reportLeftOut(run: Run, waiting: readonly WaitingChange[]): readonly number[] {
  const { unreachable } = run.connected.observations.fleet();
  if (unreachable.length === 0) return [];
  run.emit({ kind: 'waits-for-hosts', hosts: leftOutHosts(run), changes: waiting });
  run.context.err(leftOutText(unreachable, waiting));
  return unreachable.map(({ error }) => exitCodeOf(error));
}
