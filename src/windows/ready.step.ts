import { isNodeGone } from '../cluster/nodes.ts';
import { runsOnWindows, waitForApi } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { powershell } from '../templates.ts';

/**
 * Restarts the kubelet of a joined host if its Node was deleted: the kubelet registers its Node only when it starts.
 */
export const windowsNodeRegistered: Step<'windows'> = {
  name: 'node-registered',
  settleMs: 5 * 60_000,
  diff: (target) => {
    if (!isNodeGone(target)) return [];
    const { host } = target;
    return [
      {
        summary: `restart the kubelet of ${host.name}, which registers its node again (found the node deleted)`,
        disrupts: true,
        apply: runsOnWindows(host, powershell('windows/set-service-state.ps1', { Name: 'kubelet', Action: 'restart' })),
      },
    ];
  },
};

/**
 * Waits until the node is registered and its kubelet healthy, and Ready if kbuild installs the network. Images are
 * large.
 */
export const windowsNodeReady: Step<'windows'> = {
  name: 'node-ready',
  settleMs: 20 * 60_000,
  diff: ({ inventory, host, facts, fleet }) => {
    const { cluster } = fleet;
    if (cluster.state === 'down') return [waitForApi(cluster)];
    const node = cluster.state === 'up' ? cluster.nodes.find(({ name }) => name === host.name) : undefined;
    if (node === undefined) return [{ summary: `wait until ${host.name} is registered (found no node)` }];
    if (!facts.kubeletHealthy) return [{ summary: `wait until the kubelet of ${host.name} is healthy` }];
    if (networkPlugin(inventory).agent === undefined || node.ready) return [];
    return [{ summary: `wait until ${host.name} is Ready (found ${node.reason})` }];
  },
};

/** Waits until every system pod on the node is ready: the network plugin and kube-proxy, if they are pods. */
export const windowsPodsReady: Step<'windows'> = {
  name: 'system-pods-ready',
  settleMs: 20 * 60_000,
  diff: ({ inventory, host, fleet }) => {
    const { cluster } = fleet;
    if (inventory.network.windows === undefined || cluster.state !== 'up') return [];
    const pods = cluster.pods.filter(({ node }) => node === host.name);
    const waiting = pods.filter(({ ready }) => !ready);
    if (waiting.length === 0) return [];
    const troubles = [...new Set(waiting.map(({ trouble }) => trouble).filter((trouble) => trouble !== ''))];
    const found = troubles.length === 0 ? 'not ready' : troubles.join('; ');
    return [{ summary: `wait for ${waiting.map(({ name }) => name).join(', ')} on ${host.name} (found ${found})` }];
  },
};
