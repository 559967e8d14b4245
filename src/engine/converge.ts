import { Interrupted } from '../errors.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { turns, type Turns } from './batches.ts';
import type { Convergence } from './convergence.ts';
import { type Emit, failureOf } from './event.ts';
import { hostInPhase, phaseRow, type PhaseRow } from './host-in-phase.ts';
import { places } from './phases.ts';
import type { Phase } from './step.ts';
import { below, questions, type RunningTask, runTasks, type Task } from './tasks.ts';

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

/** The state of a run that its tasks share. */
interface Progress {
  readonly turn: Turns;
  readonly failures: Map<string, Error>;
  /** As `questions`. */
  readonly ask: ReturnType<typeof questions>;
  readonly isOver: () => boolean;
  changes: number;
  /** Forgets the tasks of the group before: what they did is in events, and a large fleet has very many. */
  forget: () => void;
  /**
   * What failed in a task and is no host's failure. No other work begins then, and the run rejects with it when all
   * hosts have stopped.
   */
  fault: { readonly error: unknown } | undefined;
}

const isWorker = (inventory: Inventory, name: string): boolean =>
  inventory.hosts.find((host) => host.name === name)?.role === 'worker';

function progressOf(run: Convergence): Progress {
  const { signal, inventory } = run;
  const failures = new Map<string, Error>();
  const progress: Progress = {
    turn: turns(run),
    failures,
    ask: questions(),
    isOver: () =>
      signal.aborted || progress.fault !== undefined || [...failures.keys()].some((name) => !isWorker(inventory, name)),
    changes: 0,
    forget: () => undefined,
    fault: undefined,
  };
  return progress;
}

/**
 * Applies the phases: phase by phase, host by host, step by step, diff → apply → observe → diff must be empty. They are
 * a tree of tasks, which listr2 runs: groups of phases one after another, their hosts at once, and the phases of a host
 * one after another. A worker that fails leaves the run; any other host that fails ends it after what is under way.
 * Does not reject for a failed host, nor when the run was ended from outside.
 */
export async function converge(run: Convergence): Promise<Outcome> {
  const { phases, emit, signal, nowMs } = run;
  const progress = progressOf(run);
  const { failures } = progress;
  const started = nowMs();
  const building = groups(phases.filter(({ verifies }) => verifies !== true));
  const verifying = groups(phases.filter(({ verifies }) => verifies === true));
  // The display ends with the last task: what it shows then depends on this event.
  const end: Task = {
    task: () => {
      if (progress.fault !== undefined) throw progress.fault.error;
      const { changes } = progress;
      emit({ kind: 'done', changes, failed: [...failures.keys()], durationMs: nowMs() - started });
    },
  };
  const built = building.map((group) => groupTask(run, progress, group));
  await runTasks([...built, ...verifyTasks(run, progress, verifying), end], run.display);
  return { changes: progress.changes, failures, stopped: signal.aborted ? (signal.reason as Error) : undefined };
}

/** Verification is repeated at most so often, each time because of what happened during the round before. */
const VERIFIED_AT_MOST = 3;

/**
 * Verifies what the run has built, by facts no older than three seconds. What was verified first may change while the
 * run waits for the rest: a host restarts, or a container of the control plane does. So a round in which a connection
 * was lost, or something was waited for, is followed by another one.
 */
function verifyTasks(run: Convergence, progress: Progress, verifying: readonly (readonly Phase[])[]): readonly Task[] {
  if (verifying.length === 0) return [];
  let waits = 0;
  let before = 0;
  let isVerified = false;
  const emit: Emit = (event) => {
    if (event.kind === 'settling') waits += 1;
    run.emit(event);
  };
  const begin: Task = {
    task: async () => {
      waits = 0;
      before = await timesLost(run, progress, verifying);
      run.observations.expireOld();
    },
  };
  const end: Task = {
    skip: progress.isOver,
    task: async () => {
      isVerified = (await timesLost(run, progress, verifying)) === before && waits === 0;
      if (!isVerified) run.observations.expireAll();
    },
  };
  const round = (): Task => ({
    skip: () => isVerified || progress.isOver(),
    task: (_, task) =>
      below(task, [begin, ...verifying.map((group) => groupTask({ ...run, emit }, progress, group)), end]),
  });
  return Array.from({ length: VERIFIED_AT_MOST }, round);
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
      const phase = phases[0]!;
      emit({ kind: 'failed', phase: phase.name, host, step: phase.steps[0]!.name, ...failureOf(error) });
      failures.set(host, error as Error);
      return 0;
    }
  });
  return Math.max(0, ...(await Promise.all(counts)));
}

/** Takes every host through phases that need not wait for each other. */
function groupTask(run: Convergence, progress: Progress, group: readonly Phase[]): Task {
  const { observations, emit, concurrency, nowMs } = run;
  return {
    title: group.map(({ title }) => title).join(', '),
    skip: progress.isOver,
    task: (_, task) => {
      const rows = group.map((phase) => phaseRow(phase, emit, nowMs));
      const hosts = new Map(
        group.flatMap((phase) => places(phase, observations.fleet())).map((host) => [host.name, host]),
      );
      const tasks = [...hosts.values()].map((host) => hostTask(run, progress, rows, host));
      const list = below(task, tasks, concurrency);
      progress.forget();
      progress.forget = () => void list.tasks.splice(0);
      return list;
    },
  };
}

/** One host in its phases; where that is one phase, it is one task. */
function hostTask(run: Convergence, progress: Progress, rows: readonly PhaseRow[], host: Host): Task {
  const [first, ...others] = rows;
  if (first !== undefined && others.length === 0) return { ...placeTask(run, progress, first, host), title: host.name };
  return {
    title: host.name,
    task: (_, task) =>
      below(
        task,
        rows.map((row) => placeTask(run, progress, row, host)),
      ),
  };
}

/** One host in one phase. It fails alone. */
const placeTask = (run: Convergence, progress: Progress, row: PhaseRow, host: Host): Task => ({
  title: row.phase.title,
  exitOnError: false,
  task: async (_, task) => {
    const failure = await passPhase(run, progress, row, host, task).catch((error: unknown) => {
      progress.fault ??= { error };
      return error as Error;
    });
    if (failure !== undefined) throw failure;
  },
});

/**
 * Takes the host through the phase, unless it is not the host's, or the run or the host has ended. Returns why the host
 * fails in it.
 */
async function passPhase(
  run: Convergence,
  progress: Progress,
  row: PhaseRow,
  host: Host,
  task: RunningTask,
): Promise<Error | undefined> {
  if (!row.has(host, run.observations)) {
    task.skip();
    return undefined;
  }
  if (progress.isOver()) {
    row.cut();
    task.skip();
    return undefined;
  }
  let failure: Error | undefined;
  if (progress.failures.has(host.name)) task.skip();
  else failure = await row.place(() => changeHost(run, progress, row, host, task));
  row.leave(host);
  return failure;
}

/** A host in its place of the phase. Its failure is noted before the next host gets the place. */
async function changeHost(
  run: Convergence,
  progress: Progress,
  row: PhaseRow,
  host: Host,
  task: RunningTask,
): Promise<Error | undefined> {
  const { turn, failures, isOver, ask } = progress;
  const approve = (summary: string): Promise<boolean> => ask(task, () => run.approve(summary));
  try {
    // The host may have waited for its turn while another one failed.
    if (isOver()) return undefined;
    const changes = await hostInPhase(run.asks === true ? { ...run, approve } : run, turn, row.phase, host, row);
    progress.changes += changes;
    return undefined;
  } catch (error) {
    if (error instanceof Interrupted && run.signal.aborted) {
      row.cut();
      task.skip();
      return undefined;
    }
    failures.set(host.name, error as Error);
    return error as Error;
  } finally {
    turn.batches.leave(row.phase, host);
  }
}
