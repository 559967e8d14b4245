import { acting } from '../../cluster/acting.ts';
import { isDropping, isSigning } from '../../cluster/rotation.ts';
import { kubectl } from '../../configuration/kubectl.ts';
import type { Step } from '../../engine/step.ts';
import type { ClusterView } from '../../facts/cluster.ts';
import { waitForApi } from '../../resources/wait-for-api.ts';
import { script } from '../../templates.ts';
import { underWay, type Rotating } from './rotating.ts';

/** So many are named; of the others, their number. */
const NAMED = 8;

const listed = (all: readonly string[]): string =>
  all.length <= NAMED ? all.join(', ') : `${all.slice(0, NAMED).join(', ')} and ${String(all.length - NAMED)} more`;

/** What can be restarted whose pods may have read only the old CA, as `namespace kind/name`. */
const workloadsOf = (cluster: ClusterView): readonly string[] =>
  cluster.state !== 'up'
    ? []
    : [
        ...new Set(
          cluster.caReaders.flatMap(({ namespace, workload }) =>
            workload === 'none' ? [] : [`${namespace} ${workload}`],
          ),
        ),
      ];

/** Pods that may have read only the old CA and that kbuild does not restart, as `namespace/name`. */
export const readersLeft = (cluster: ClusterView, { workloads }: Pick<Rotating, 'workloads'>): readonly string[] =>
  cluster.state !== 'up'
    ? []
    : cluster.caReaders
        .filter(({ workload }) => workloads === 'leave' || workload === 'none')
        .map(({ namespace, name }) => `${namespace}/${name}`);

/**
 * Restarts the workloads whose pods read the CA when they started, and may know the old one alone: one after another, each as its own
 * strategy says.
 */
export const workloadsRestarted = (rotating: Rotating): Step<'cluster'> => ({
  name: 'workloads-restarted',
  settleMs: 5 * 60_000,
  diff: (target) => {
    const { inventory, facts, fleet } = target;
    const { name, direction, workloads, when } = rotating;
    if (name !== 'ca' || direction === 'back' || workloads === 'leave' || facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const rotation = underWay(target, rotating);
    if (rotation === undefined)
      return when === 'planned'
        ? [
            {
              summary:
                'restart the workloads whose pods have read the old CA alone: DaemonSets, Deployments, StatefulSets',
            },
          ]
        : [];
    if (isDropping(fleet, name, rotation) || isSigning(fleet, name, rotation)) return [];
    const found = workloadsOf(facts);
    if (found.length === 0) return [];
    return [
      {
        summary: `restart ${String(found.length)} workloads whose pods may know the old CA alone: ${listed(found.map((one) => one.replace(' ', '/')))}`,
        apply: async (on) => {
          const control = acting(fleet);
          await on(control).job(
            'restart-workloads',
            script('linux/restart-workloads.sh', { KUBECTL: kubectl(inventory, control).join(' '), WORKLOADS: found }),
          );
        },
      },
    ];
  },
});
