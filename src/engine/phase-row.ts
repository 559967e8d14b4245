import { limiter } from '../each-limit.ts';
import type { Host } from '../model/inventory.ts';
import type { Emit } from './event.ts';
import type { Phase } from './step.ts';
import { places } from './target.ts';
import type { Observations } from './observations.ts';

/** Bookkeeping of one phase: begins with its first host, ends with its last. */
export function phaseRow(phase: Phase, emit: Emit, nowMs: () => number) {
  const { run } = limiter(phase.concurrency ?? Number.MAX_SAFE_INTEGER);
  let hosts: readonly Host[] | undefined;
  let startedMs: number | undefined;
  let turnTaken = false;
  let isCut = false;
  let changes = 0;
  const left = new Set<string>();
  return {
    phase,
    hosts: (observations: Observations): readonly Host[] => (hosts ??= places(phase, observations.fleet())),
    place: run,
    begin: (): void => {
      if (startedMs !== undefined) return;
      startedMs = nowMs();
      emit({
        kind: 'phase-started',
        phase: phase.name,
        title: phase.title,
        hosts: (hosts ?? []).map(({ name }) => name),
      });
    },
    /** Before the first host of a phase that goes host by host and has something to do: others were at work meanwhile. */
    takeTurn: (observations: Observations): void => {
      if (!turnTaken) observations.expireOld();
      turnTaken = true;
    },
    count: (more: number): void => {
      changes += more;
    },
    /** The run ends before all hosts have finished the phase: it is never done. */
    cut: (): void => {
      isCut = true;
    },
    leave: (host: string): void => {
      left.add(host);
      if (!isCut && startedMs !== undefined && (hosts ?? []).every(({ name }) => left.has(name))) {
        emit({ kind: 'phase-done', phase: phase.name, changes, durationMs: nowMs() - startedMs });
      }
    },
  };
}
