import type { Fleet } from '../cluster/fleet/fleet.ts';
import { CommandError, ConnectError, Interrupted } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { limiter } from '../limit.ts';
import type { Turns } from './batches.ts';
import type { Convergence } from './convergence.ts';
import { type Emit, failureOf } from './event.ts';
import type { Observations } from './observations.ts';
import { places } from './phases.ts';
import { hasNoPendingChange, stepOnHost } from './step-on-host.ts';
import type { Phase } from './step.ts';

/** What a boot of a host is known by; undefined for a host that was not observed. */
function bootOf(fleet: Fleet, name: string): string | number | undefined {
  const seen = fleet.hosts.find(({ host }) => host.name === name);
  return seen?.os === 'windows' ? seen.facts.machine.bootedMs : seen?.facts.bootId;
}

/** How much two readings of the time of one boot may differ, in ms. No Windows restarts within it. */
const SAME_BOOT_MS = 30_000;

const isAnotherBoot = (before: string | number, now: string | number | undefined): boolean =>
  typeof before === 'number' && typeof now === 'number' ? Math.abs(now - before) > SAME_BOOT_MS : now !== before;

/** True when no status came: the connection ended, or the command ended with its host. */
const isUnanswered = (error: unknown): error is CommandError | ConnectError =>
  error instanceof ConnectError || (error instanceof CommandError && typeof error.status === 'string');

/**
 * What interrupted a step, in words: the host was restarted since it was observed, or the connection was lost during a
 * command, and the host answers again. All facts have expired then. undefined for every other failure.
 */
async function interruptionOf(observations: Observations, error: unknown): Promise<string | undefined> {
  if (!isUnanswered(error)) return undefined;
  const { host } = error;
  try {
    const before = bootOf(observations.fleet(), host);
    observations.expire([host]);
    const { value: now } = await observations.evaluate((fleet) => bootOf(fleet, host));
    const wasRestarted = before !== undefined && isAnotherBoot(before, now);
    if (!wasRestarted && !(error instanceof CommandError && error.status === 'lost')) return undefined;
    observations.expireAll();
    return wasRestarted ? `${host} was restarted meanwhile` : `the connection to ${host} was lost meanwhile`;
  } catch {
    return undefined;
  }
}

/** Bookkeeping of one phase: begins with its first host, ends with its last. */
export function phaseRow(phase: Phase, emit: Emit, nowMs: () => number) {
  const { run } = limiter(phase.concurrency ?? Number.MAX_SAFE_INTEGER);
  let hosts: ReadonlySet<string> | undefined;
  let startedMs: number | undefined;
  let turnTaken = false;
  let isCut = false;
  let changes = 0;
  const left = new Set<string>();
  return {
    phase,
    /**
     * True if the host takes the steps of this phase. What the phase's hosts are is decided when the first host asks.
     */
    has: ({ name }: Host, observations: Observations): boolean =>
      (hosts ??= new Set(places(phase, observations.fleet()).map((host) => host.name))).has(name),
    place: run,
    begin: (): void => {
      if (startedMs !== undefined) return;
      startedMs = nowMs();
      emit({
        kind: 'phase-started',
        phase: phase.name,
        title: phase.title,
        hosts: [...(hosts ?? [])],
      });
    },
    /**
     * Before the first host of a phase that goes host by host and has something to do: others were at work meanwhile.
     */
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
    leave: ({ name }: Host): void => {
      left.add(name);
      if (!isCut && startedMs !== undefined && left.size === hosts?.size) {
        emit({ kind: 'phase-done', phase: phase.name, changes, durationMs: nowMs() - startedMs });
      }
    },
  };
}

/** What `phaseRow` returns. */
export type PhaseRow = ReturnType<typeof phaseRow>;

/** A host may restart, or lose its connection, so often during a phase; the next time it fails. */
const MOST_INTERRUPTIONS = 2;

/**
 * Takes one host through the steps of a phase, from the first again after it was interrupted. Returns how many changes
 * were made.
 * @throws Interrupted when the run is ended meanwhile; what a step throws, after its event `failed`
 */
export async function hostInPhase(
  run: Convergence,
  turn: Turns,
  phase: Phase,
  host: Host,
  row: PhaseRow,
): Promise<number> {
  const { emit, nowMs, signal } = run;
  const startedMs = nowMs();
  row.begin();
  emit({ kind: 'host-started', phase: phase.name, host: host.name });
  let changes = 0;
  const inTurn = phase.concurrency === 1;
  const steps = inTurn && (await hasNoPendingChange(run, phase, host)) ? [] : phase.steps;
  if (inTurn && steps.length > 0) row.takeTurn(run.observations);
  let times = 0;
  let next = 0;
  while (next < steps.length) {
    const step = steps[next]!;
    if (signal.aborted) throw new Interrupted('interrupted before the next step');
    try {
      const made = await stepOnHost(run, turn, phase, host, step);
      if (made === 'paused') {
        run.observations.expireOld();
        next = 0;
        continue;
      }
      if (made === 'again') continue;
      changes += made;
      next += 1;
    } catch (error) {
      const interruption = times < MOST_INTERRUPTIONS ? await interruptionOf(run.observations, error) : undefined;
      if (interruption !== undefined) {
        times += 1;
        next = 0;
        const summary = `${interruption}: observing what is pending now (${(error as Error).message})`;
        emit({ kind: 'settling', phase: phase.name, host: host.name, step: step.name, summary, waitedMs: 0 });
        continue;
      }
      if (!(error instanceof Interrupted)) {
        emit({ kind: 'failed', phase: phase.name, host: host.name, step: step.name, ...failureOf(error) });
      }
      throw error;
    }
  }
  // It may have changed what the hosts share: the next host observes again.
  if (inTurn && steps.length > 0) run.observations.expireOld();
  row.count(changes);
  emit({ kind: 'host-done', phase: phase.name, host: host.name, changes, durationMs: nowMs() - startedMs });
  return changes;
}
