import { restartedByLead } from '../certificates/leaves.ts';
import { standing } from '../cluster/standing.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import { script } from '../templates.ts';
import { refuseUnproved } from './endpoint-config-map.step.ts';
import { isMoving, kubeconfigsAstray, serverAt } from './endpoint.ts';

const KUBELET_CONF = 'kubelet.conf';

/** The API reports whole seconds. */
const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

/**
 * True for a kubelet that an interrupted move has not restarted: it still uses the former kubeconfig. Only a move
 * writes the inventory's endpoint to kubelet.conf before kubeadm's configuration names it.
 */
function hasOldKubelet({ inventory, facts, fleet: { cluster } }: Target): boolean {
  if (cluster.state !== 'up' || !isMoving(inventory, cluster)) return false;
  const conf = facts.kubeconfigServers.get(KUBELET_CONF);
  const startedMs = facts.services.get('kubelet')?.startedMs ?? 0;
  return conf?.server === serverAt(inventory.endpoint) && startedMs > 0 && wholeSeconds(conf.changedMs) > startedMs;
}

function leading(target: Target, names: readonly string[], found: string): Change {
  const { inventory, host } = target;
  const kubelet = names.includes(KUBELET_CONF);
  const pods = restartedByLead(names);
  const server = serverAt(inventory.endpoint);
  return {
    summary: `lead ${names.join(', ')} of ${host.name} to ${server} (found ${found})`,
    ...(kubelet || pods.length > 0 ? { disrupts: true } : {}),
    restarts: [
      ...(kubelet ? [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet }] : []),
      ...pods.map((what) => ({ what, hosts: [host.name], aboutMs: ABOUT_MS.pod })),
    ],
    apply: async (on) => {
      refuseUnproved(target);
      await on(host).job(
        'lead-kubeconfigs',
        withRuntime(
          inventory,
          host,
          script('kubeadm/lead-kubeconfigs.sh', {
            SERVER: server,
            CONFS: names,
            KUBELET: kubelet ? 'yes' : '',
            NODE: host.name,
            PODS: pods,
          }),
        ),
      );
    },
  };
}

/**
 * Points the kubeconfigs of a joined host to the inventory's endpoint. Restarts the kubelet, which must then report to
 * the API through the new endpoint. If it does not, the job restores the former kubeconfig.
 */
export const kubeconfigsLed: Step = {
  name: 'kubeconfigs-led',
  settleMs: 60_000,
  watches: { units: ['kubelet'] },
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { cluster } = fleet;
    if (cluster.state !== 'up' || (host.role !== 'control-plane' && host.role !== 'worker')) return [];
    if (standing(target) !== 'joined') return [];
    const astray = kubeconfigsAstray(inventory, cluster, { host, facts });
    if (astray.length > 0) {
      const found = [...new Set(astray.map(({ server }) => server))].join(', ');
      return [
        leading(
          target,
          astray.map(({ name }) => name),
          found,
        ),
      ];
    }
    return hasOldKubelet(target) ? [leading(target, [KUBELET_CONF], 'its kubelet older than the file')] : [];
  },
};
