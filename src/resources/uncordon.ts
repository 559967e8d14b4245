import { acting } from '../cluster/acting.ts';
import { CORDON_TAINT, CORDONED, DRAINED, isCordonedByKbuild } from '../cluster/drain-notes.ts';
import { kubectl } from '../configuration/kubectl.ts';
import type { NodeView } from '../facts/cluster.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { registeredNode, type AnyStep, type AnyTarget } from './drain.ts';
import { hooksFor, runHooks } from './hooks.ts';

/** What a plan says of the hook after the node takes pods again; empty without one. */
const thenHooks = ({ inventory, host }: AnyTarget): string =>
  hooksFor(inventory, 'afterUncordon', host).length === 0 ? '' : ', then run the hook afterUncordon';

/** True for a node that is not cordoned any more, whose taint of the cordon the controller manager has not removed yet. */
const keepsPodsAway = ({ unschedulable, taints }: NodeView): boolean =>
  !unschedulable && taints.some(({ key }) => key === CORDON_TAINT);

/**
 * Lets a node that kbuild has drained take pods again. An operator's cordon stays. `willDrain`: nodes that an earlier step of
 * the same run drains, so that the plan shows this change. `before`: what is waited for first.
 */
export const uncordoned = (
  willDrain: (node: NodeView) => boolean,
  before: (target: AnyTarget, on: On) => Promise<void> = () => Promise.resolve(),
): AnyStep => ({
  name: 'uncordoned',
  settleMs: 2 * 60_000,
  diff: (target: AnyTarget) => {
    const node = registeredNode(target);
    if (node === undefined) return [];
    const hasNote = DRAINED in node.annotations || CORDONED in node.annotations;
    if (!hasNote && !willDrain(node))
      return keepsPodsAway(node) ? [{ summary: `wait until pods can be placed on ${node.name} again` }] : [];
    const { inventory, host, fleet } = target;
    const control = acting(fleet);
    const isOurs = isCordonedByKbuild(node) || !node.unschedulable;
    const patch = JSON.stringify({
      metadata: { annotations: { [DRAINED]: null, [CORDONED]: null } },
      ...(isOurs ? { spec: { unschedulable: null } } : {}),
    });
    return [
      {
        summary: isOurs
          ? `let ${host.name} take pods again${thenHooks(target)}`
          : `leave ${host.name} cordoned, as an operator wants it`,
        apply: async (on) => {
          await before(target, on);
          const patched = (content: string) =>
            on(control).run(sh`${kubectl(inventory, control)} patch node ${host.name} --type merge -p ${content}`);
          if (isOurs) {
            // The notes stay until the hook has ended: a run that is cut off here is finished by the next one.
            if (hooksFor(inventory, 'afterUncordon', host).length > 0)
              await patched(JSON.stringify({ spec: { unschedulable: null } }));
            await runHooks(inventory, 'afterUncordon', host, on);
          }
          await patched(patch);
        },
      },
    ];
  },
});
