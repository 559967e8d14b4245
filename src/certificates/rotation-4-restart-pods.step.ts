import type { ClusterView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { planned, type Rotating, underWay } from './rotation.step.ts';
import { endOf, isDropping, isSigning } from './rotation.ts';
import { notSigningTokens } from './service-account-key.step.ts';
import { podsLeft, signsAloneSince } from './token-use.ts';

/** Maximum number of workloads that a message names. For more it gives the number. */
const NAMED = 8;

const listed = (all: readonly string[]): string =>
  all.length <= NAMED ? all.join(', ') : `${all.slice(0, NAMED).join(', ')} and ${String(all.length - NAMED)} more`;

const shown = (workloads: readonly string[]): string => listed(workloads.map((one) => one.replace(' ', '/')));

/**
 * Restarts these workloads (`namespace kind/name`). No new pod starts before the given second since the epoch has
 * passed.
 */
async function restart(
  { inventory, fleet }: Pick<Target<'cluster'>, 'inventory' | 'fleet'>,
  found: readonly string[],
  after: number,
  on: On,
): Promise<void> {
  const control = acting(fleet);
  await on(control).job(
    'restart-workloads',
    script('certificates/restart-workloads.sh', {
      ...{ KUBECTL: kubectl(inventory, control).join(' '), WORKLOADS: found, AFTER: after },
    }),
  );
}

/** Workloads that can be restarted and whose pods may have read only the old CA, as `namespace kind/name`. */
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
 * Restarts the workloads whose pods may trust the old CA only, because they read it at their start: one workload after
 * another, each with its own strategy.
 */
export const workloadsRestarted = (rotating: Rotating): Step<'cluster'> => ({
  name: 'workloads-restarted',
  settleMs: 5 * 60_000,
  diff: (target) => {
    const { facts, fleet } = target;
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
        summary: `restart ${String(found.length)} workloads whose pods may know the old CA alone: ${shown(found)}`,
        apply: (on) => restart(target, found, 0, on),
      },
    ];
  },
});

/**
 * Restarts the workloads whose pods have a token from before all control planes signed with the remaining key. The
 * kubelets renew the files of tokens within a day, but a process may read its file only once.
 */
export const tokenHoldersRestarted = (rotating: Rotating): Step<'cluster'> => ({
  name: 'workloads-restarted',
  settleMs: 5 * 60_000,
  diff: (target) => {
    const { facts, fleet } = target;
    const { direction, workloads } = rotating;
    if (workloads === 'leave' || facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const all = 'restart the workloads whose pods have tokens of';
    const rotation = underWay(target, rotating);
    if (rotation === undefined) return planned(rotating, `${all} the old key of service accounts`);
    if (isDropping(fleet, 'sa', rotation)) return [];
    const { loser } = endOf(rotation, direction);
    if (notSigningTokens(fleet, rotation, direction).length > 0) return [{ summary: `${all} ${loser.subject}` }];
    const sinceMs = signsAloneSince(fleet, rotation, direction);
    const { toRestart } = podsLeft(facts, sinceMs, rotating);
    const found = [...new Set(toRestart.map(({ namespace, workload }) => `${namespace} ${workload}`))];
    if (found.length === 0) return [];
    return [
      {
        summary:
          `restart ${String(found.length)} workloads whose pods have ` + `tokens of ${loser.subject}: ${shown(found)}`,
        apply: (on) => restart(target, found, Math.ceil((sinceMs ?? 0) / 1000), on),
      },
    ];
  },
});
