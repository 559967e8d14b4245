import { isDnsPod, type PodView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { CORDON_TAINT, wantedTaints } from '../cluster/nodes.ts';
import { founder, standing } from '../cluster/standing.ts';
import { runs, withChanges } from '../engine/combinators.ts';
import type { Change, Phase, Step, Target } from '../engine/step.ts';
import { kubectl } from '../inventory/api-server.ts';
import { linuxNodes } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { sh } from '../shell/sh.ts';

/** The taint that kubeadm's CoreDNS tolerates. */
const TOLERATED = 'node-role.kubernetes.io/control-plane';

/** True when CoreDNS may run on the host's node. */
function mayRunDns({ host, fleet: { cluster } }: Pick<Target, 'host' | 'fleet'>): boolean {
  const node = cluster.state === 'up' ? cluster.nodes.find(({ name }) => name === host.name) : undefined;
  if (node !== undefined && (node.unschedulable || node.conditions.length > 0)) return false;
  return (node?.taints ?? wantedTaints(host)).every(
    ({ key, effect }) =>
      key === TOLERATED ||
      effect === 'PreferNoSchedule' ||
      (key.startsWith('node.kubernetes.io/') && key !== CORDON_TAINT),
  );
}

/** The pods of CoreDNS if all of them are on one node; empty otherwise. */
function crowdedPods(target: Target): readonly PodView[] {
  const { cluster } = target.fleet;
  if (cluster.state !== 'up') return [];
  const pods = cluster.pods.filter((pod) => isDnsPod(pod) && pod.node !== '');
  return pods.length > 1 && pods.every(({ node }) => node === pods[0]!.node) ? pods : [];
}

/** True for another host on which CoreDNS may run. */
const isAnother = (other: LinuxHost, target: Target): boolean =>
  other.name !== target.host.name && mayRunDns({ ...target, host: other });

/**
 * Deletes all pods of CoreDNS but one if they are on the same node, so that the scheduler spreads them. They all start
 * on the first node of a cluster, and Kubernetes does not move them when other nodes join.
 */
export const corednsSpread: Step = {
  name: 'coredns-spread',
  settleMs: 2 * 60_000,
  diff: (target) => {
    const { inventory, host, fleet } = target;
    if (!mayRunDns(target)) return [];
    const summary = 'spread CoreDNS over the nodes';
    // The scheduler chooses the node of the first pods, so the plan of a new cluster names the change on every node.
    if (fleet.cluster.state !== 'up')
      return 'host' in founder(inventory, fleet) && linuxNodes(inventory).some((other) => isAnother(other, target))
        ? [{ summary: `${summary}, if all of it is on one`, foreseen: true }]
        : [];
    const pods = crowdedPods(target);
    if (pods.length === 0 || pods[0]!.node === host.name) return [];
    if (standing(target) !== 'joined') return [{ summary, foreseen: true }];
    const control = acting(fleet);
    const names = pods
      .map(({ name }) => name)
      .sort()
      .slice(1);
    return [
      {
        summary: `${summary} (found all of it on ${pods[0]!.node})`,
        apply: runs(
          control,
          sh`${kubectl(inventory, control)} -n kube-system delete pod --ignore-not-found --wait=false ${names}`,
        ),
      },
    ];
  },
};

/**
 * Adds the change `spread CoreDNS` to the plan of phases with drains before them: drains may leave all pods of CoreDNS
 * on one node. `drains`: true if they may touch this host.
 */
export const spreadAfterDrains = (phases: readonly Phase[], drains: (target: Target) => boolean): readonly Phase[] =>
  phases.map((phase) => {
    if (phase.kind !== 'linux') return phase;
    const summary = 'spread CoreDNS over the nodes, if the drains leave all of it on one';
    const foreseen = (found: readonly Change[], target: Target): readonly Change[] =>
      found.length > 0 || !drains(target) ? found : [{ summary, foreseen: true }];
    const steps = phase.steps.map((step) => (step.name === corednsSpread.name ? withChanges(step, foreseen) : step));
    return { ...phase, steps };
  });
