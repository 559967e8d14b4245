import { acting } from '../../cluster/acting.ts';
import { kubectl } from '../../cluster/kubectl.ts';
import type { Step, Target } from '../../engine/step.ts';
import type { NodeView } from '../../facts/cluster.ts';
import { runs } from '../../resources/runs.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';

/** Annotation of a node that kbuild has drained to the end: an interrupted drain is gone on with. */
const DRAINED = 'kbuild.dev/drained';

const registered = ({ host, fleet }: Target): NodeView | undefined =>
  fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === host.name) : undefined;

/** Whether a node's pods are moved away before it goes, and how long that may take. */
export type Drain = { readonly timeoutMs: number } | 'no';

/** The node's pods have moved to others, where the API answers. */
export const drained = (drain: Drain): Step => ({
  name: 'drained',
  diff: (target) => {
    const node = registered(target);
    if (drain === 'no' || node === undefined || (node.unschedulable && DRAINED in node.annotations)) return [];
    const { inventory, host, fleet } = target;
    const control = acting(fleet);
    const command = script('linux/drain-node.sh', {
      KUBECTL: kubectl(inventory, control).join(' '),
      NODE: host.name,
      SECONDS_TO_DRAIN: Math.ceil(drain.timeoutMs / 1000),
      ANNOTATION: `${DRAINED}=true`,
    });
    return [
      {
        summary: `drain ${host.name} (found ${node.ready ? 'Ready' : 'not Ready'})`,
        apply: async (on) => {
          await on(control).job('drain', command);
        },
      },
    ];
  },
});

/** The cluster no longer knows the node, where the API answers. After its kubelet has gone: that would register it again. */
export const nodeDeleted: Step = {
  name: 'node-deleted',
  diff: (target) => {
    const node = registered(target);
    if (node === undefined) return [];
    const { inventory, host, fleet } = target;
    const control = acting(fleet);
    return [
      {
        summary: `delete node ${host.name} from ${inventory.name}`,
        apply: runs(control, sh`${kubectl(inventory, control)} delete node --ignore-not-found ${host.name}`),
      },
    ];
  },
};
