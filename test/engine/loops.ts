import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { CommandError, ConnectError, Interrupted } from '../../src/errors.ts';
import type { Host, Inventory } from '../../src/inventory/inventory.ts';
import { eachLimit, limiter } from '../../src/limit.ts';
import { turns, type Turns } from '../../src/engine/batches.ts';
import type { Convergence } from '../../src/engine/convergence.ts';
import type { Emit } from '../../src/engine/event.ts';
import type { Observations } from '../../src/engine/observations.ts';
import { hasNoPendingChange, stepOnHost } from '../../src/engine/step-on-host.ts';
import type { Phase } from '../../src/engine/step.ts';
import { places } from '../../src/engine/target.ts';

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
export async function interruptionOf(observations: Observations, error: unknown): Promise<string | undefined> {
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

/** How a run ended. */
export interface Outcome {
  readonly changes: number;
  /** Why a host left the run, by host. */
  readonly failures: ReadonlyMap<string, Error>;
  /** Why the run was ended from outside; undefined when it was not. */
  readonly stopped: Error | undefined;
}

/** Consecutive phases that need not wait for each other: one that waits, and the overlapping ones after it. */
export function groups(phases: readonly Phase[]): readonly (readonly Phase[])[] {
  const found: Phase[][] = [];
  for (const phase of phases) {
    if (phase.overlaps === true && found.length > 0) found.at(-1)!.push(phase);
    else found.push([phase]);
  }
  return found;
}

/** The state of a run that its phases share. */
interface Progress {
  readonly turn: Turns;
  readonly failures: Map<string, Error>;
  readonly isOver: () => boolean;
}

/**
 * Applies the phases: phase by phase, host by host, step by step, diff → apply → observe → diff must be empty.
 * A worker that fails leaves the run; any other host that fails ends it after what is under way. Does not reject for a
 * failed host, nor when the run was ended from outside.
 */
export async function converge(run: Convergence): Promise<Outcome> {
  const { phases, emit, signal, nowMs } = run;
  const failures = new Map<string, Error>();
  const isOver = (): boolean => signal.aborted || [...failures.keys()].some((name) => !isWorker(run.inventory, name));
  const progress: Progress = { turn: turns(run), failures, isOver };
  const started = nowMs();
  const building = groups(phases.filter(({ verifies }) => verifies !== true));
  const verifying = groups(phases.filter(({ verifies }) => verifies === true));
  let changes = 0;
  for (const group of building) changes += await runGroup(run, progress, group);
  if (verifying.length > 0) changes += await verify(run, progress, verifying);
  emit({ kind: 'done', changes, failed: [...failures.keys()], durationMs: nowMs() - started });
  return { changes, failures, stopped: signal.aborted ? (signal.reason as Error) : undefined };
}

/** Verification is repeated at most so often, each time because of what happened during the round before. */
const VERIFIED_AT_MOST = 3;

/**
 * Verifies what the run has built, by facts no older than three seconds. What was verified first may change while the run waits
 * for the rest: a host restarts, or a container of the control plane does. So a round in which a connection was lost, or
 * something was waited for, is followed by another one.
 */
async function verify(run: Convergence, progress: Progress, verifying: readonly (readonly Phase[])[]): Promise<number> {
  let changes = 0;
  let waits = 0;
  const emit: Emit = (event) => {
    if (event.kind === 'settling') waits += 1;
    run.emit(event);
  };
  for (let times = 0; times < VERIFIED_AT_MOST && !progress.isOver(); times++) {
    waits = 0;
    const before = await timesLost(run, progress, verifying);
    run.observations.expireOld();
    for (const group of verifying) changes += await runGroup({ ...run, emit }, progress, group);
    if (progress.isOver()) break;
    if ((await timesLost(run, progress, verifying)) === before && waits === 0) break;
    run.observations.expireAll();
  }
  return changes;
}

/** How often the connections of the hosts in these phases were lost so far. A worker that does not come back fails. */
async function timesLost(
  { held, observations, emit, signal }: Convergence,
  { failures }: Progress,
  verifying: readonly (readonly Phase[])[],
): Promise<number> {
  const phases = verifying.flat();
  const names = new Set(phases.flatMap((phase) => places(phase, observations.fleet())).map(({ name }) => name));
  const counts = [...names].map(async (host) => {
    if (failures.has(host)) return 0;
    try {
      return await held(host);
    } catch (error) {
      if (signal.aborted) return 0;
      const { message, exitCode = 1 } = error as Error & { readonly exitCode?: number };
      const phase = phases[0]!;
      emit({ kind: 'failed', phase: phase.name, host, step: phase.steps[0]!.name, summary: message, exitCode });
      failures.set(host, error as Error);
      return 0;
    }
  });
  return Math.max(0, ...(await Promise.all(counts)));
}

/** Takes every host through phases that need not wait for each other; returns how many changes were made. */
async function runGroup(
  run: Convergence,
  { turn, failures, isOver }: Progress,
  group: readonly Phase[],
): Promise<number> {
  const { observations, emit, concurrency, signal, nowMs } = run;
  if (isOver()) return 0;
  let changes = 0;
  const rows = group.map((phase) => phaseRow(phase, emit, nowMs));
  const hosts = [
    ...new Map(group.flatMap((phase) => places(phase, observations.fleet())).map((host) => [host.name, host])).values(),
  ];
  await eachLimit(hosts, concurrency, async (host) => {
    for (const row of rows) {
      if (!row.hosts(observations).some(({ name }) => name === host.name)) continue;
      if (isOver()) {
        row.cut();
        continue;
      }
      if (!failures.has(host.name)) {
        try {
          // The host may have waited for its turn while another one failed.
          const made = await row.place(async () => (isOver() ? 0 : hostInPhase(run, turn, row.phase, host, row)));
          changes += made;
        } catch (error) {
          if (error instanceof Interrupted && signal.aborted) row.cut();
          else failures.set(host.name, error as Error);
        } finally {
          turn.batches.leave(row.phase, host);
        }
      }
      row.leave(host.name);
    }
  });
  return changes;
}

/** A host may restart, or lose its connection, so often during a phase; the next time it fails. */
const MOST_INTERRUPTIONS = 2;

const isWorker = (inventory: Inventory, name: string): boolean =>
  inventory.hosts.find((host) => host.name === name)?.role === 'worker';

async function hostInPhase(
  run: Convergence,
  turn: Turns,
  phase: Phase,
  host: Host,
  row: ReturnType<typeof phaseRow>,
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
        const { message } = error as Error;
        const exitCode = (error as { readonly exitCode?: number }).exitCode ?? 1;
        emit({ kind: 'failed', phase: phase.name, host: host.name, step: step.name, summary: message, exitCode });
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
