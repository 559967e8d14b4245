import { reached, selected } from '../engine/phases.ts';
import {
  changesIn,
  plan,
  type PlannedChange,
  type WaitingChange,
  type Without,
  withoutAbsent,
} from '../engine/plan.ts';
import { type PlannedRestart, restartsOf } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import type { Display } from '../engine/tasks.ts';
import { exitCodeOf, SeveralErrors, UsageError } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { jsonDocument } from '../report/json.ts';
import type { Masker } from '../report/mask.ts';
import { leftOutText, planText } from '../report/plan.ts';
import type { Note } from '../report/record/line.ts';
import { planNote } from '../report/record/notes.ts';
import type { Connected } from './connect.ts';
import type { Context, RunLog } from './context.ts';
import type { SeenFirst } from './observe.ts';
import type { Flags } from './options.ts';

/** Something that the run, or one of its hosts, waits for. */
type Wait = Pick<Extract<Note, { readonly kind: 'waiting' }>, 'what' | 'host' | 'summary'>;

/** Begins a wait; the function that it returns ends it. The record gets waits that last. */
export type BeginWait = (wait: Wait) => () => void;

/** A shorter wait is none, in ms. */
const SHORTEST_MS = 100;

/** Waits of a run, as notes in its record. */
export function waitsOf(note: (note: Note) => void, nowMs: () => number): BeginWait {
  let count = 0;
  return (wait) => {
    const startMs = nowMs();
    let id: number | undefined;
    const timer = setTimeout(() => {
      id = count += 1;
      note({ kind: 'waiting', wait: id, ...wait });
    }, SHORTEST_MS).unref();
    return () => {
      clearTimeout(timer);
      if (id !== undefined) note({ kind: 'waited', wait: id, durationMs: nowMs() - startMs });
      id = undefined;
    };
  };
}

/** How a command uses its run. */
export interface RunOptions {
  /** As the operator types it, e.g. `etcd snapshot save`. */
  readonly command: string;
  /** What `--json` prints: one event a line, or one document when the command has ended. */
  readonly json: 'events' | 'document';
  /** True: the command's own output names the hosts that do not answer. Otherwise the run names them first. */
  readonly reportsUnreachable?: true;
  /** True: `--dead` may also name members that the inventory does not have. */
  readonly acceptsUnknownDead?: true;
  /** True: `--timeout` limits a part of the command, and not the whole run. */
  readonly hasOwnTimeout?: true;
  /** True: the inventory keeps its Kubernetes version, also where the live cluster is older. */
  readonly changesVersion?: true;
  /** True: the command observes until it is interrupted. Its log has no commands, and Ctrl-C is its usual end. */
  readonly isEndless?: boolean;
  /** Called before a host is contacted or a log written. @throws UsageError if the command line does not fit. */
  readonly checkInventory?: (inventory: Inventory) => void;
  /** True: the command reads the cluster through one control plane, and connects to no other host. */
  readonly isThroughOne?: boolean;
  /** Gets a view of the cluster before all hosts have answered, and another if that was not the last. */
  readonly onCluster?: ((out: Context['out'], inventory: Inventory, first: SeenFirst) => void) | undefined;
  /** True: `--bundle` is written also when the command succeeds. */
  readonly alwaysBundles?: true;
}

/** A command that contacts hosts: connected, observed, logged, interruptible. */
export interface Run extends RunLog {
  /** Its `out` and `err` mask secrets. */
  readonly context: Context;
  /** In `hosts`, the names of hosts stand in the place of groups. */
  readonly flags: Flags;
  /** As the operator types it, e.g. `etcd snapshot save`. */
  readonly command: string;
  readonly inventory: Inventory;
  /** Where each host stands in the inventory: `file:line:column`. */
  readonly hostPlaces: ReadonlyMap<string, string>;
  readonly connected: Connected;
  readonly abort: (reason: Error) => void;
  /** What draws the tasks of these phases, if stderr is a terminal; undefined: a line is printed for each event. */
  readonly display: (phases: readonly Phase[]) => Promise<Display | undefined>;
  /** When the run began, on kbuild's machine. */
  readonly startedMs: number;
  readonly logPath: string;
  /** Adds to the run's record what no reporter shows. */
  readonly note: (note: Note) => void;
  readonly beginWait: BeginWait;
  readonly mask: Masker;
}

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

/**
 * Reports the hosts that the run left out, and the changes that wait for them. Returns the exit code of each host's
 * error.
 */
export function reportLeftOut(run: Run, waiting: readonly WaitingChange[]): readonly number[] {
  const { unreachable } = run.connected.observations.fleet();
  if (unreachable.length === 0) return [];
  run.emit({ kind: 'waits-for-hosts', hosts: leftOutHosts(run), changes: waiting });
  // What `up` does not do is done by the same command alone.
  run.context.err(leftOutText(unreachable, waiting, run.command.startsWith('certs ') ? run.command : 'up'));
  return unreachable.map(({ error }) => exitCodeOf(error));
}

/** What a run would change, and the phases that make the changes. */
export interface RunPlan {
  /** Without the hosts that cannot be reached. */
  readonly phases: readonly Phase[];
  readonly changes: readonly PlannedChange[];
}

/** What a command does, and why it may not. */
export interface Plannable {
  /** Its phases on reached hosts, from the last observation. */
  readonly phases: () => readonly Phase[];
  /**
   * Throws why the command may not go on, from the last observation. Called before the plan that the operator is asked
   * about, and again under the locks: another run may have changed the cluster while he was asked, or while no lock was
   * held. It changes nothing.
   */
  readonly refuse: () => void | Promise<void>;
  /** The same about what the plan would change. */
  readonly refusePlan?: (plan: RunPlan) => void;
}

/** These phases without the hosts that this run cannot reach. */
export const reachedPhases = ({ connected }: Run, phases: readonly Phase[]): readonly Phase[] =>
  reached(phases, connected.observations.fleet());

/**
 * What these phases of reached hosts would change. @throws what a step refuses, and FactError for a fact that a step
 * needs
 */
function planOf({ connected, inventory }: Run, phases: readonly Phase[]): RunPlan {
  const { changes, errors } = plan(phases, inventory, connected.observations.fleet());
  if (errors.length > 0) throw new SeveralErrors(errors.map(({ error }) => error));
  return { phases, changes };
}

/** What a command would do by the last observation. @throws what `refuse`, `refusePlan` or a step refuses */
export async function planNow(run: Run, { phases, refuse, refusePlan }: Plannable): Promise<RunPlan> {
  await refuse();
  const plan = planOf(run, phases());
  refusePlan?.(plan);
  return plan;
}

/** Prints that the plan is empty; returns the exit code. */
export function reportNothingToDo({ context, flags, inventory, note }: Run): number {
  note(planNote(inventory, { phases: [], changes: [] }));
  if (flags.json !== true) context.out('nothing to do\n');
  return 0;
}

/** Shows a plan on stderr, and below it what the operator should know before the question. */
export function showPlan(
  { context, inventory, note }: Run,
  { phases, changes }: RunPlan,
  about: { readonly restarts?: readonly PlannedRestart[]; readonly notes?: string } = {},
): void {
  note(planNote(inventory, { phases, changes }));
  context.err(`${planText(phases, changes, about.restarts)}${about.notes ?? ''}`);
}

/** Documents that `--plan --json` prints: they have one shape. */
type PlanDocument = 'reboot-plan' | 'authority-plan' | 'move-endpoint-plan';

/** `--plan`: shows a plan on stdout, or as JSON; returns the exit code. */
export function showOnly({ context, flags, inventory }: Run, { phases, changes }: RunPlan): number {
  const restarts = restartsOf(inventory, changes);
  if (flags.json === true) {
    const shown = changesIn(changes).map(({ phase, host, step, summary }) => ({ phase, host, step, summary }));
    context.out(jsonDocument<PlanDocument>({ cluster: inventory.name, changes: shown, restarts }));
    return 0;
  }
  context.out(changes.length === 0 ? 'nothing to do\n' : planText(phases, changes, restarts));
  return 0;
}

/**
 * Asks for confirmation, unless `--yes`. False: the operator declines. @throws UsageError if there is no terminal to
 * ask on
 */
export async function confirmed({ context, flags }: Run, question: string): Promise<boolean> {
  if (flags.yes === true) return true;
  if (!context.canAsk)
    throw new UsageError('changes are due and there is no terminal to ask on; nothing was changed', {
      remedy: 'pass --yes to go ahead without a question',
    });
  return asked({ context }, question);
}

/** Asks also with `--yes`. False: the operator declines, or there is no terminal. */
export const asked = async ({ context }: Pick<Run, 'context'>, question: string): Promise<boolean> =>
  context.canAsk && /^y(es)?$/i.test((await context.ask(`${question} [y/N] `)).trim());
