import type { Host, Inventory } from '../inventory/inventory.ts';
import type { On } from '../ssh/remote.ts';
import type { Emit } from './event.ts';
import type { Observations } from './observations.ts';
import type { PlannedChange } from './plan.ts';
import type { Phase } from './step.ts';
import type { Display } from './tasks.ts';

/** What a run needs from outside: hosts, time, and the operator's answers. */
export interface Convergence {
  readonly inventory: Inventory;
  readonly phases: readonly Phase[];
  readonly observations: Observations;
  readonly on: On;
  /** As `Lock.held`. */
  readonly held: (host: string) => Promise<number>;
  /** Identities of the changes that were confirmed. */
  readonly planned: ReadonlySet<string>;
  /** Asked about a change beyond the confirmed ones; false stops its host. */
  readonly approve: (summary: string) => Promise<boolean>;
  /** True: `approve` asks on the terminal, and is called once at a time. The display makes room meanwhile. */
  readonly asks?: boolean;
  /** Called before each change on a host; it rejects if the host is to stay as it is. */
  readonly beforeChange?: (host: Host) => Promise<void>;
  readonly emit: Emit;
  /** What shows the tasks of the run; undefined: nothing does, its events are enough. */
  readonly display?: Display | undefined;
  /** Called when a host begins to wait for its turn; the result is called when it waits no more. */
  readonly onTurn?: (host: string) => () => void;
  /** Hosts at once. */
  readonly concurrency: number;
  /** How many workers may be disrupted at once; default: see `disruption.ts`. */
  readonly workersAtOnce?: number | undefined;
  /** Aborted: finish the current change, start no other. */
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Where something is waited for. */
export type Place = Pick<PlannedChange, 'phase' | 'host' | 'step'>;

/** What is still waited for is reported again after this time, in ms. */
const TOLD_MS = 10_000;

/** Reports what is waited for: when that changes, and else every 10 s. */
export function teller({ emit, nowMs }: Convergence, place: Place): (summary: string) => void {
  const startedMs = nowMs();
  let said = '';
  let toldMs = 0;
  return (summary) => {
    if (summary === said && nowMs() - toldMs < TOLD_MS) return;
    said = summary;
    toldMs = nowMs();
    emit({ kind: 'settling', ...place, summary, waitedMs: toldMs - startedMs });
  };
}
