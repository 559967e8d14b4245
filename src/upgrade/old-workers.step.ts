import type { NodeView } from '../cluster/fleet/view.ts';
import { OLD_WORKER } from '../cluster/taints.ts';
import type { AnyTarget } from '../engine/drain.ts';
import { noteForgotten, noteWritten, taint } from '../engine/note.ts';
import type { Step } from '../engine/step.ts';

/**
 * The taint of workers that are drained later. Pods that leave another worker go to upgraded ones where they can, and
 * move once instead of twice (as kops and Cluster API do).
 */
const mark = taint(OLD_WORKER, 'PreferNoSchedule');

/** True for a node with the taint. */
export const isMarked = (node: Pick<NodeView, 'taints'> | undefined): boolean =>
  node?.taints.some(({ key }) => key === OLD_WORKER) === true;

/** Marks a worker that is drained later. */
export const marked = (isOld: (target: AnyTarget) => boolean): Step =>
  noteWritten<'linux'>('marked', mark, (target) =>
    isOld(target)
      ? { summary: `let pods prefer other nodes than ${target.host.name} until it is upgraded`, text: '' }
      : undefined,
  );

/** Takes the mark away. `willMark`: nodes that the same run marks before, so that the plan shows this change. */
export const unmarked = (willMark: (target: AnyTarget) => boolean): Step =>
  noteForgotten<'linux'>('unmarked', mark, {
    summary: ({ host }) => `let pods come to ${host.name} as to any node`,
    willStand: willMark,
  });
