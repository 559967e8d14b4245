import type { NodeView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { OLD_WORKER } from '../cluster/taints.ts';
import { type AnyStep, type AnyTarget, registeredNode } from '../engine/drain.ts';
import { kubectl } from '../inventory/api-server.ts';
import { sh } from '../shell/sh.ts';

/**
 * Pods that leave another worker go to upgraded ones where they can, and move once instead of twice (as kops and
 * Cluster API do).
 */
const EFFECT = 'PreferNoSchedule';

/** True for a node with the taint. */
export const isMarked = (node: Pick<NodeView, 'taints'> | undefined): boolean =>
  node?.taints.some(({ key }) => key === OLD_WORKER) === true;

/** Marks a worker that is drained later. */
export const marked = (isOld: (node: NodeView) => boolean): AnyStep => ({
  name: 'marked',
  diff: (target: AnyTarget) => {
    const node = registeredNode(target);
    if (node === undefined || isMarked(node) || !isOld(node)) return [];
    const { inventory, fleet, host } = target;
    const control = acting(fleet);
    return [
      {
        summary: `let pods prefer other nodes than ${host.name} until it is upgraded`,
        apply: async (on) => {
          await on(control).run(
            sh`${kubectl(inventory, control)} taint node ${host.name} ${`${OLD_WORKER}=:${EFFECT}`} --overwrite`,
          );
        },
      },
    ];
  },
});

/** Takes the mark away. `willMark`: nodes that the same run marks before, so that the plan shows this change. */
export const unmarked = (willMark: (node: NodeView) => boolean): AnyStep => ({
  name: 'unmarked',
  diff: (target: AnyTarget) => {
    const node = registeredNode(target);
    if (node === undefined || !(isMarked(node) || willMark(node))) return [];
    const { inventory, fleet, host } = target;
    const control = acting(fleet);
    return [
      {
        summary: `let pods come to ${host.name} as to any node`,
        apply: async (on) => {
          await on(control).run(
            sh`${kubectl(inventory, control)} taint node ${host.name} ${`${OLD_WORKER}:${EFFECT}-`}`,
          );
        },
      },
    ];
  },
});
