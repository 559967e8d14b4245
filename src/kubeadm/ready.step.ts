import type { NodeView } from '../cluster/fleet/view.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { driverChange, otherDriver } from '../runtime/cgroup-driver.step.ts';

const MINUTES = 60_000;

/**
 * Time in ms for which the control plane's containers must run without a restart. With a wrong cgroup driver they
 * restart sooner.
 */
export const SETTLED_MS = 30_000;

const CONTROL_PLANE_PODS = new Set(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd']);

/** The node of a host, or the wait for it. */
function nodeOf({ host, fleet }: Pick<Target, 'host' | 'fleet'>): NodeView | Change {
  const { cluster } = fleet;
  if (cluster.state === 'down') return waitForApi(cluster);
  const node = cluster.state === 'up' ? cluster.nodes.find(({ name }) => name === host.name) : undefined;
  return node ?? { summary: `wait until ${host.name} is registered (found no node)` };
}

/** Waits until the node is registered and its kubelet is healthy, and Ready if kbuild installs the network plugin. */
export const nodeReady: Step = {
  name: 'node-ready',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { inventory, host, facts } = target;
    const node = nodeOf(target);
    if ('summary' in node) return [node];
    if (!facts.kubeletHealthy) return [{ summary: `wait until the kubelet of ${host.name} is healthy` }];
    if (networkPlugin(inventory).agent === undefined || node.ready) return [];
    return [{ summary: `wait until ${host.name} is Ready (found ${node.reason})` }];
  },
};

/**
 * Waits until running containers have cgroups of the inventory's cgroup driver. During an upgrade containers keep their
 * driver.
 */
export const cgroupProved: Step = {
  name: 'cgroup-proved',
  settleMs: MINUTES,
  diff: (target) => {
    const { inventory, facts } = target;
    const wanted = inventory.runtime.cgroupDriver;
    const found = facts.cgroupDriverInUse;
    if (found === wanted || found === 'none') return [];
    if (otherDriver(target) !== undefined && driverChange(target) === undefined) return [];
    return [{ summary: `wait until containers use the cgroup driver ${wanted} (found ${found})` }];
  },
};

/** Waits until no container of the control plane has restarted within the last 30 s. */
export const settled: Step<'cluster'> = {
  name: 'settled',
  settleMs: 5 * MINUTES,
  diff: ({ facts }) => {
    if (facts.state === 'absent') return [{ summary: 'wait until the control plane runs without restarts' }];
    if (facts.state === 'down') return [waitForApi(facts)];
    const { nowMs } = facts;
    const restarted = facts.pods.filter(
      ({ labels, lastRestartMs }) =>
        CONTROL_PLANE_PODS.has(labels['component'] ?? '') && nowMs - lastRestartMs < SETTLED_MS,
    );
    if (restarted.length === 0) return [];
    return [
      {
        summary:
          `wait until the control plane has run for 30 s (found ${restarted.map(({ name }) => name).join(', ')} ` +
          'restarted)',
      },
    ];
  },
};
