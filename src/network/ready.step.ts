import type { ClusterUp, PodView } from '../cluster/fleet/view.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Change, Step } from '../engine/step.ts';
import { networkPlugin } from './plugins.value.ts';

const notReady = ({ name, trouble }: PodView): string => `${name} not ready${trouble === '' ? '' : `: ${trouble}`}`;

/** Why the plugin has no pod on a host: the problems of its operator's pods, if it has an operator. */
function missingPod({ pods }: ClusterUp, operatorNamespace: string | undefined): string {
  const operators = pods.filter(({ namespace, trouble }) => namespace === operatorNamespace && trouble !== '');
  return ['no pod', ...operators.map(notReady)].join('; ');
}

/** Values of the label `k8s-app`: of kube-proxy, which serves the addresses of Services, and of CoreDNS. */
const CARRIERS: ReadonlySet<string> = new Set(['kube-proxy', 'kube-dns']);

/** Pods that the Service addresses need and that are not ready: kube-proxy on this host, CoreDNS on any host. */
function silentCarriers({ pods }: ClusterUp, host: string): string {
  const silent = pods.filter(({ ready, namespace, node, labels }) => {
    const app = labels['k8s-app'] ?? '';
    return !ready && namespace === 'kube-system' && CARRIERS.has(app) && (app === 'kube-dns' || node === host);
  });
  return silent.length === 0 ? '' : ` (found ${silent.map(notReady).join('; ')})`;
}

/**
 * Waits until the plugin's pod and the node are ready and the Service addresses of API and DNS answer from the host.
 * Does not wait for a network that the user installs.
 */
export const networkReady: Step = {
  name: 'network-ready',
  settleMs: 5 * 60_000,
  diff: ({ inventory, host, facts, fleet }) => {
    const { name: plugin, agent, operatorNamespace } = networkPlugin(inventory);
    if (agent === undefined) return [];
    const wait = (summary: string): readonly Change[] => [{ summary }];
    const { cluster } = fleet;
    if (cluster.state === 'down') return [waitForApi(cluster)];
    if (cluster.state === 'absent') return wait(`wait until the pod network of ${host.name} works`);
    const { label } = agent;
    const pod = cluster.pods.find(({ node, labels }) => node === host.name && labels[label.name] === label.value);
    if (pod?.ready !== true)
      return wait(
        `wait for ${plugin} on ${host.name} (found ` +
          `${pod === undefined ? missingPod(cluster, operatorNamespace) : notReady(pod)})`,
      );
    const node = cluster.nodes.find(({ name }) => name === host.name);
    if (node?.ready !== true) return wait(`wait until ${host.name} is Ready (found ${node?.reason ?? 'no node'})`);
    const services = facts.serviceNetwork;
    if (services === 'absent') return wait(`wait until ${host.name} has joined`);
    const unanswered = [...(services.api ? [] : ['API']), ...(services.dns ? [] : ['DNS'])];
    return unanswered.length === 0
      ? []
      : wait(
          `wait until the Service address of ${unanswered.join(' and ')} answers ` +
            `${host.name}${silentCarriers(cluster, host.name)}`,
        );
  },
};
