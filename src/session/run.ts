import type { Phase } from '../engine/step.ts';
import type { Display } from '../engine/tasks.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Masker } from '../report/mask.ts';
import type { Note } from '../report/record/line.ts';
import type { Connected } from './connect.ts';
import type { Context } from './context.ts';
import type { Flags } from './options.ts';
import type { RunLog } from './run-log.ts';

type Waiting = Extract<Note, { readonly kind: 'waiting' }>;

/** Something that the run, or one of its hosts, waits for. */
export type Wait = Pick<Waiting, 'what' | 'host' | 'summary'>;

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
  /** Called before a host is contacted, and before a log is written. It throws UsageError for a command line that does not fit the inventory. */
  readonly checkInventory?: (inventory: Inventory) => void;
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
