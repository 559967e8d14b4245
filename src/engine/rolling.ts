import type { Kinds } from '../cluster/fleet/fleet.ts';
import type { ClusterUp, NodeView } from '../cluster/fleet/view.ts';
import { isDrained, isMissed } from '../cluster/nodes.ts';
import { waitForApi, when, whenApiAnswers } from './combinators.ts';
import { type AnyStep, cordoned, type Drain, drainForAWhile } from './drain.ts';
import { whileNoted } from './note.ts';
import { IN_TURN, type PhaseSwitches } from './phases.ts';
import type { Phase, Step, Target } from './step.ts';
import { uncordonedWhenReady, workloadsBack } from './workloads.ts';

/** How nodes are drained for a change, some at once. */
export interface RollOptions {
  readonly drain: Drain;
  /** True: pods without a controller are deleted, and nothing makes them again. */
  readonly losesPods: boolean;
  /** How many workers may be away at once. */
  readonly atOnce: number;
}

/** Workers that change together. */
interface Batch<H> {
  readonly hosts: readonly H[];
  /** From 1; 0: the canary, which no batch is counted with. */
  readonly number: number;
  /** `batch 2 of 3` */
  readonly which: string;
}

/** Hosts that change together, as a phase. */
export interface Turn<H> {
  readonly name: string;
  readonly title: string;
  readonly hosts: readonly H[];
  readonly how: PhaseSwitches;
  /** The phase before it, which cordons all of them before a node of them is drained, so that no pod moves twice. */
  readonly cordon?: Pick<Turn<H>, 'name' | 'title' | 'how'>;
}

/**
 * What a roll calls a batch. `pausesAs`: what the pause between batches counts the phases with; default: by their
 * names.
 */
interface BatchNames {
  readonly name: string;
  readonly title: string;
  readonly pausesAs?: string;
}

/** A list in pieces of at most `size`, in its order. */
const inPieces = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  list.length === 0 ? [] : [list.slice(0, size), ...inPieces(list.slice(size), size)];

/**
 * The first host alone, for what breaks it would break all others, then batches of at most `atOnce`. `first`: whether
 * it is counted as one of them.
 */
export function batchesOf<H>(hosts: readonly H[], atOnce: number, first: 'canary' | 'batch'): readonly Batch<H>[] {
  const all = [...inPieces(hosts.slice(0, 1), 1), ...inPieces(hosts.slice(1), atOnce)];
  const counted = first === 'canary' ? all.length - 1 : all.length;
  return all.map((some, at) => {
    const number = first === 'canary' ? at : at + 1;
    return { hosts: some, number, which: `batch ${String(number)} of ${String(counted)}` };
  });
}

/** Each host alone, one after another, in one phase. */
export const inTurn = <H>(name: string, title: string, hosts: readonly H[], how = IN_TURN): readonly Turn<H>[] => [
  { name, title, hosts, how },
];

/**
 * How workers are cut into batches. `cordons`: a batch is cordoned as a whole first; a worker alone is by its own
 * drain.
 */
interface Cut {
  readonly atOnce: number;
  readonly first: 'canary' | 'batch';
  readonly cordons: boolean;
}

/** Workers in batches, each of which changes at once. */
export const inBatches = <H>(
  workers: readonly H[],
  { atOnce, first, cordons }: Cut,
  names: (batch: Batch<H>) => BatchNames,
): readonly Turn<H>[] =>
  batchesOf(workers, atOnce, first).map((batch) => {
    const { hosts, number, which } = batch;
    const { pausesAs, ...named } = names(batch);
    const concurrency = hosts.length;
    const cordon = {
      ...{ name: `cordon-${String(number)}`, title: `Cordon workers, ${which}` },
      how: { concurrency, batch: pausesAs ?? named.name },
    };
    return {
      ...named,
      hosts,
      how: pausesAs === undefined ? { concurrency } : { concurrency, batch: pausesAs },
      ...(cordons && hosts.length > 1 ? { cordon } : {}),
    };
  });

/** What happens to each node of a roll, in this order. */
export interface NodeChange<K extends 'linux' | 'windows'> {
  /** True for a host whose node is drained for the change; also while that cannot be known, so that the drain waits. */
  readonly isDue: (target: Target<K>) => boolean;
  /** Waits until the nodes that changed before these hosts are back. */
  readonly othersBack?: (hosts: readonly Kinds[K]['host'][]) => Step<K>;
  /** While pods run there. */
  readonly before: readonly Step<K>[];
  /** What a run that goes on finds out that the drain is its own by, if the drain's own notes do not tell. */
  readonly note?: {
    readonly written: Step<K>;
    readonly forgotten: Step<K>;
    readonly isOurs: (target: Target<K>) => boolean;
  };
  readonly drain: AnyStep;
  readonly whileDrained: readonly Step<K>[];
  /** Before the node takes pods again. */
  readonly gates: readonly Step<K>[];
  /** As soon as it takes pods again. */
  readonly last?: readonly Step<K>[];
  /** What the steps become that this order itself adds: the drain, the way back, and what notes them. */
  readonly each?: (step: Step<K>) => Step<K>;
}

/**
 * The steps of one node: it is drained, changes, lets pods come again when its own are ready, and waits until the
 * workloads that left it are back.
 */
function nodeSteps<K extends 'linux' | 'windows'>(change: NodeChange<K>): readonly Step<K>[] {
  const { isDue, before, note, drain, whileDrained, gates, last = [], each = (step: Step<K>) => step } = change;
  const first = [...(note === undefined ? [] : [note.written]), drain as Step<K>];
  const back = [
    ...[uncordonedWhenReady<K>(isDue), ...last, workloadsBack<K>(isDue)],
    ...(note === undefined ? [] : [note.forgotten]),
  ];
  return [
    ...before,
    ...first.map((step) => each(when(isDue, whenApiAnswers(step)))),
    ...whileDrained,
    ...gates,
    ...back.map((step) => each(note === undefined ? whenApiAnswers(step) : whileNoted(note.isOurs, step))),
  ];
}

/**
 * Hosts change in turns, each drained for it: the phases of `upgrade`, `reboot`, another runtime or cgroup driver, and
 * another containerd on Windows. A turn begins when the nodes of those before it are back, and one that fails ends
 * those after it.
 */
export const rolling = <K extends 'linux' | 'windows'>(
  kind: K,
  turns: readonly Turn<Kinds[K]['host']>[],
  change: NodeChange<K>,
): readonly Phase[] =>
  turns.flatMap((turn): readonly Phase[] => {
    const { hosts, cordon } = turn;
    const back = change.othersBack === undefined ? [] : [change.othersBack(hosts)];
    // The compiler does not see that the kind, the hosts and the steps are of one system.
    const phase = ({ name, title, how }: Pick<typeof turn, 'name' | 'title' | 'how'>, steps: readonly Step<K>[]) =>
      ({ name, title, kind, hosts, steps: [...back, ...steps], ...how }) as unknown as Phase;
    return [
      ...(cordon === undefined ? [] : [phase(cordon, [when(change.isDue, cordoned as Step<K>)])]),
      phase(turn, nodeSteps(change)),
    ];
  });

/** Drains a node in a command that has options for that. */
export const drainedAsTold = ({ drain, losesPods }: RollOptions): AnyStep =>
  drainForAWhile(
    { drain, losesPods },
    () =>
      '`--drain-timeout 15m` gives the pods more time, `--disable-eviction` ignores budgets, `--force` deletes ' +
      'pods that no controller makes again',
  );

/** Drains a node in `up`, which has no options for that but the inventory's `rollout.drainTimeout`. */
export const drainedByUp: AnyStep = drainForAWhile(
  { drain: ({ rollout }) => ({ timeoutMs: rollout.drainTimeoutMs }), losesPods: false },
  ({ name }) => `Or drain the node yourself first: \`kubectl drain ${name}\` with the flags that you accept`,
);

/**
 * Nodes outside the batch that kbuild has drained and that take no pods yet, and nodes that do, but whose workloads are
 * missed.
 */
export function awayFrom(
  { nodes }: Pick<ClusterUp, 'nodes'>,
  batch: readonly { readonly name: string }[],
): { readonly drained: readonly NodeView[]; readonly missed: readonly NodeView[]; readonly all: readonly NodeView[] } {
  const others = nodes.filter((node) => !batch.some(({ name }) => name === node.name));
  return {
    drained: others.filter(isDrained),
    missed: others.filter(isMissed),
    all: others.filter((node) => isDrained(node) || isMissed(node)),
  };
}

/**
 * Waits until the other nodes are back: a node that does not come back keeps all others as they are, because what broke
 * it would break them. `reason`: what it still waits for, in the imperative; undefined if nothing.
 */
export const othersAreBack = <T extends Pick<Target, 'fleet'>>(
  reason: (cluster: ClusterUp, target: T) => string | undefined,
  isDue: (target: T) => boolean = () => true,
) => ({
  name: 'others-are-back',
  settleMs: 30_000,
  diff: (target: T) => {
    const { cluster } = target.fleet;
    if (cluster.state === 'absent' || !isDue(target)) return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    const summary = reason(cluster, target);
    return summary === undefined ? [] : [{ summary }];
  },
});
