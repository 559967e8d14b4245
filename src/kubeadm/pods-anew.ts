import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step } from '../engine/step.ts';
import { driverChange, podsAnew, podsAnewSummary } from '../resources/cgroup-driver.ts';
import { waitForApi } from '../resources/wait-for-api.ts';
import { using } from '../templates.ts';
import { KUBELET_CONFIG_FILE, kubeletConfigured } from './kubelet-settings.ts';

/**
 * Configures the kubelet of a joined node for the inventory's cgroup driver, and starts all pods of the node anew: no container may stay
 * under a cgroup of the other driver. The runtime has it by then.
 */
export const podsByDriver: Step = {
  name: 'pods-by-driver',
  settleMs: 60_000,
  diff: (target) => {
    const { host, fleet } = target;
    const { cluster } = fleet;
    const change = host.role === 'etcd' ? undefined : driverChange(target);
    if (change === undefined || cluster.state === 'absent') return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    const { preview, command } = kubeletConfigured(target, cluster);
    return [
      {
        summary: podsAnewSummary(target, change),
        disrupts: true,
        restarts: [{ what: 'all pods of the host', hosts: [host.name], aboutMs: ABOUT_MS.staticPod, atOnce: 1 }],
        preview,
        apply: async (on) => {
          await on(host).job('pods-anew', using(command, podsAnew(target, KUBELET_CONFIG_FILE)));
        },
      },
    ];
  },
};
