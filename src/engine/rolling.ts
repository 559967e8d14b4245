import type { ClusterUp, NodeView } from '../cluster/fleet/view.ts';
import { isDrained, isMissed } from '../cluster/nodes.ts';
import { perTarget, waitForApi } from './combinators.ts';
import { type AnyStep, type Drain, drainForAWhile } from './drain.ts';
import type { Step, Target } from './step.ts';
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
export interface Batch<H> {
  readonly hosts: readonly H[];
  /** From 1; 0: the canary, which no batch is counted with. */
  readonly number: number;
  /** `batch 2 of 3` */
  readonly which: string;
}

/** A list in pieces of at most `size`, in its order. */
export const inBatches = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  list.length === 0 ? [] : [list.slice(0, size), ...inBatches(list.slice(size), size)];

/** The first host alone, for what breaks it would break all others, then batches of at most `atOnce`. `first`: whether it is counted as one of them. */
export function batchesOf<H>(hosts: readonly H[], atOnce: number, first: 'canary' | 'batch'): readonly Batch<H>[] {
  const all = [...inBatches(hosts.slice(0, 1), 1), ...inBatches(hosts.slice(1), atOnce)];
  const counted = first === 'canary' ? all.length - 1 : all.length;
  return all.map((some, at) => {
    const number = first === 'canary' ? at : at + 1;
    return { hosts: some, number, which: `batch ${String(number)} of ${String(counted)}` };
  });
}

/** Whether a batch is cordoned as a whole before a node of it is drained, so that no pod moves twice. A worker alone is cordoned by its own drain. */
export const cordonsFirst = ({ hosts }: Pick<Batch<unknown>, 'hosts'>, { drain }: RollOptions): boolean =>
  hosts.length > 1 && drain !== 'no';

/** Drains a node in a command that has options for that. `isDue`: a node that is to change. */
export const drainedAsTold = ({ drain, losesPods }: RollOptions, isDue: (node: NodeView) => boolean): AnyStep =>
  drainForAWhile(
    { drain, losesPods, isDue },
    () =>
      '`--drain-timeout 15m` gives the pods more time, `--disable-eviction` ignores budgets, `--force` deletes pods that no controller makes again',
  );

/** Drains a node in `up`, which has no options for that. */
export const drainedByUp = (drain: Drain): AnyStep =>
  drainForAWhile(
    { drain, losesPods: false, isDue: () => true },
    ({ name }) => `Or drain the node yourself first: \`kubectl drain ${name}\` with the flags that you accept`,
  );

/** Nodes outside the batch that kbuild has drained and that take no pods yet, and nodes that do, but whose workloads are missed. */
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
 * Waits until the other nodes are back: a node that does not come back keeps all others as they are, because what broke it would break them. `reason`: what
 * it still waits for, in the imperative; undefined if nothing.
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

/**
 * Lets a node take pods again when its own are ready, then waits until the workloads that left it are back. `willDrain`: targets whose node this run drains, so that
 * the plan shows both.
 */
export const takesPodsAgain = <K extends 'linux' | 'windows'>(
  willDrain: (target: Target<K>) => boolean,
): readonly Step<K>[] =>
  [uncordonedWhenReady, workloadsBack].map((make) => {
    const of = (will: boolean): Step<K> => make(() => will) as Step<K>;
    return perTarget(of(false), (target) => of(willDrain(target)));
  });
