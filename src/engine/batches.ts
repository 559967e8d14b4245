import { Interrupted } from '../errors.ts';
import { atOnceOf } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { limiter } from '../limit.ts';
import { until } from '../wait.ts';
import { type Convergence, type Place, teller } from './convergence.ts';
import { type Disrupted, unwellAfterPause, wellHosts } from './health.ts';
import type { Phase } from './step.ts';

/** How often a pause is observed to be over or interrupted, in ms. */
const POLL_MS = 1000;

/** Workers that are disrupted together, and the pause between two batches of them: `rollout.pause`. */
interface WorkerBatches {
  /**
   * Waits until the worker belongs to the batch that is under way, or begins the next one. True: there was a pause, and
   * what was observed before it may have changed. A host that is no worker does not wait.
   * @throws Interrupted when the run is ended meanwhile
   */
  readonly enter: (phase: Phase, place: Place, host: Host) => Promise<boolean>;
  /** The host has finished the phase, or failed in it. The pause begins when no host of the batch is in a phase. */
  readonly leave: (phase: Phase, host: Host) => void;
}

/** `2026-11-25 14:03:20 UTC` */
const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** What the hosts of a phase are a batch of: phases of one batch bear its name. */
const batchName = (phase: Phase): string => phase.batch ?? phase.name;

const idOf = (phase: Phase, host: Host): string => `${phase.name}/${host.name}`;

/** How many hosts of a phase are one batch. A phase that names its batch has no others. */
const sizeIn = (phase: Phase, atOnce: number): number =>
  phase.batch === undefined ? Math.min(atOnce, phase.concurrency ?? atOnce) : phase.hosts.length;

/**
 * The batches of a run. A batch has at most `atOnce` workers, and those of a phase that goes host by host have one.
 * `broken`: hosts that were not healthy after their turn: the others are refused without a pause. A host of a batch
 * that is not well any more after the pause is one of them.
 */
function workerBatches(run: Convergence, atOnce: number, broken: Set<string>): WorkerBatches {
  const { nowMs, sleep, signal } = run;
  const { pauseMs } = run.inventory.rollout;
  const members = new Map<string, Host>();
  const active = new Set<string>();
  let batch = { name: '', size: 0 };
  let endedMs = 0;
  let pausing: Promise<void> | undefined;
  let idle: (() => void)[] = [];

  const isIn = (phase: Phase, host: Host): boolean =>
    members.has(host.name) || (batch.name === batchName(phase) && members.size < batch.size);
  const pauseFor = async (place: Place): Promise<void> => {
    if (broken.size > 0) {
      members.clear();
      return;
    }
    const untilMs = endedMs + pauseMs;
    const well = await wellHosts(run, [...members.values()]);
    const tell = teller(run, place);
    const isOver = (): Promise<true | undefined> => {
      if (signal.aborted) throw new Interrupted('interrupted in the pause between two batches of workers');
      if (nowMs() >= untilMs) return Promise.resolve(true);
      tell(`pause until ${timeOf(untilMs)} before the next batch of workers (rollout.pause)`);
      return Promise.resolve(undefined);
    };
    await until(isOver, Infinity, { pause: sleep, nowMs, everyMs: POLL_MS });
    for (const name of await unwellAfterPause(run, place, well)) broken.add(name);
    // A host of the batch may have gone on with a later phase meanwhile.
    if (active.size === 0) members.clear();
  };
  const join = (phase: Phase, host: Host): void => {
    if (members.size === 0) batch = { name: batchName(phase), size: sizeIn(phase, atOnce) };
    members.set(host.name, host);
    active.add(idOf(phase, host));
  };
  return {
    enter: async (phase, place, host) => {
      if (pauseMs === 0 || host.role !== 'worker') return false;
      let hasPaused = false;
      while (members.size > 0 && !isIn(phase, host)) {
        if (active.size > 0) await new Promise<void>((resolve) => idle.push(resolve));
        else {
          hasPaused = true;
          pausing ??= pauseFor(place).finally(() => (pausing = undefined));
          await pausing;
        }
      }
      join(phase, host);
      return hasPaused;
    },
    leave: (phase, host) => {
      if (!active.delete(idOf(phase, host)) || active.size > 0) return;
      endedMs = nowMs();
      for (const resolve of idle) resolve();
      idle = [];
    },
  };
}

/** The order in which hosts are disrupted. */
export interface Turns extends Disrupted {
  /** Runs a disruptive change and its verification when it is its host's turn. */
  readonly take: <R>(host: Host, work: () => Promise<R>) => Promise<R>;
  /** The workers that are disrupted together. */
  readonly batches: WorkerBatches;
}

/** How many workers may be without their runtime or kubelet at once. */
export const workersAtOnce = (inventory: Inventory): number =>
  atOnceOf(
    inventory,
    inventory.hosts.filter(({ role }) => role === 'worker'),
  );

/**
 * One host that is not a worker at a time, and at most so many workers as the run says (default:
 * `rollout.maxUnavailable` of the inventory).
 */
export function turns(run: Convergence): Turns {
  const atOnce = run.workersAtOnce ?? workersAtOnce(run.inventory);
  const ofWorkers = limiter(atOnce);
  const ofOthers = limiter(1);
  const broken = new Set<string>();
  return {
    take: (host, work) => (host.role === 'worker' ? ofWorkers : ofOthers).run(work),
    broken,
    batches: workerBatches(run, atOnce, broken),
  };
}
