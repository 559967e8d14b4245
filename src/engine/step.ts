import type { Fleet, Kind, Kinds } from '../cluster/fleet/fleet.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Watches } from '../shell/watched.ts';
import type { On } from '../ssh/remote.ts';

/** The argument of `diff`. */
export interface Target<K extends Kind = 'linux'> {
  readonly inventory: Inventory;
  readonly host: Kinds[K]['host'];
  readonly facts: Kinds[K]['facts'];
  readonly fleet: Fleet;
}

/** What is known of a target before its host is observed. */
export type Unobserved<K extends Kind = 'linux'> = Pick<Target<K>, 'inventory' | 'host'>;

/** What a change restarts: something that the cluster's users or other hosts feel while it is away. */
export interface Restart {
  /** What operators call it: `API server`, `kubelet`, or the unit. */
  readonly what: string;
  readonly hosts: readonly string[];
  /** About how long it is away on each host, in ms. */
  readonly aboutMs: number;
  /** Hosts at once, where the change itself decides that; default: see `disruption.ts`. */
  readonly atOnce?: number;
}

/** One difference, said in the imperative with what was found. */
export interface Change {
  readonly summary: string;
  /** None: wait for it (a node's Ready), or see `foreseen`. */
  readonly apply?: (on: On) => Promise<void>;
  /**
   * It stands in the plan because changes before it may make it necessary, and is confirmed with it. It is neither made
   * nor waited for: when its step comes, the diff finds what is necessary.
   */
  readonly foreseen?: true;
  /**
   * Restarts what a joined host lives on (runtime, kubelet, etcd, load balancer): few hosts at once, in good health:
   * `disruption.ts`, `health.ts`.
   */
  readonly disrupts?: boolean;
  /**
   * Takes pods away from a node that comes back: a worker waits for the pause between batches first, see
   * `worker-batches.ts`.
   */
  readonly drains?: true;
  /** `host`: the cluster shows nothing of it, so that it need not be observed again. Default: it may show anywhere. */
  readonly touches?: 'host';
  /** `plan` shows it. */
  readonly restarts?: readonly Restart[];
  /** Reads only; `plan --diff` shows it. */
  readonly preview?: (on: On) => Promise<string>;
}

/**
 * One piece of desired state. `diff` is pure; an empty list means that it holds. A property, not a method: methods are
 * bivariant.
 */
export interface Step<K extends Kind = 'linux'> {
  readonly name: string;
  readonly diff: (target: Target<K>) => readonly Change[];
  /** What `diff` asks the host's facts about by name: only what the steps and checks of a run watch is observed. */
  readonly watches?: Watches | ((about: Unobserved<K>) => Watches);
  /** Milliseconds that may pass after the changes until `diff` is empty. Default 0. */
  readonly settleMs?: number;
  /**
   * Changes the control plane host by host: it waits while a host of it is absent, see `absence.ts`. `unless-worker`:
   * it belongs to what does so, and has its turn on workers.
   */
  readonly needs?: 'whole-control-plane' | 'whole-control-plane-unless-worker';
}

const NOTHING: Watches = {};

/** What a step asks about by name on one host. */
export const watchesOf = <K extends Kind>({ watches = NOTHING }: Step<K>, about: Unobserved<K>): Watches =>
  typeof watches === 'function' ? watches(about) : watches;

/** Steps that some hosts take together. The next phase waits for all of them, unless it overlaps. */
export type Phase<K extends Kind = Kind> = {
  [P in K]: {
    readonly name: string;
    readonly title: string;
    readonly kind: P;
    /** Of a cluster phase: the candidates. */
    readonly hosts: readonly Kinds[P]['host'][];
    readonly steps: readonly Step<P>[];
    /** Hosts at once; 1 for anything that touches etcd membership, or restarts what a control plane lives on. */
    readonly concurrency?: number;
    /** All hosts of the phase are one batch of workers, together with those of other phases that give this name. */
    readonly batch?: string;
    /**
     * Everything in it waits while a host of the control plane is absent: what comes before and after a change that
     * waits must not be done alone.
     */
    readonly needs?: 'whole-control-plane';
    /** A host begins as soon as it has itself finished the phase above. */
    readonly overlaps?: true;
    /**
     * It makes true of the whole cluster what the phase of this name needs: `--hosts` leaves it out together with that
     * phase, and never cuts it.
     */
    readonly conditionOf?: string;
    /**
     * It proves what all other phases have built: after them, by new facts, and again when it waited or a connection
     * was lost.
     */
    readonly verifies?: true;
  };
}[K];
