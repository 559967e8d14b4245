import { controlPlaneNodes } from '../cluster/control-plane-nodes.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';
import type { ClusterUp, NodeView } from '../facts/cluster.ts';
import type { Hop } from './hop.ts';
import { isBehind, oldPods } from './running.ts';

/** What keeps a control plane from taking over while another one restarts; empty if it serves. */
function absences(cluster: ClusterUp, { name, ready, reason }: NodeView): readonly string[] {
  const server = cluster.apiServers.get(name) ?? 'no answer';
  return [...(ready ? [] : [`its node: ${reason}`]), ...(server === 'ok' ? [] : [`its API server: ${server}`])];
}

/**
 * Waits until every control plane is Ready and its API server serves, before one of them restarts. kubeadm itself checks that only for
 * `upgrade apply`, when kbuild has brought etcd to its minimum already, and not for `upgrade node`. Holds where nothing of the host is
 * older than the hop. A host whose static pods are upgraded does not wait for its own node: the newer kubelet may be what mends it.
 */
export const controlPlanesReady = (hop: Hop): Step => ({
  name: 'control-planes-ready',
  settleMs: 5 * 60_000,
  // While a host of the control plane is absent, no other one restarts.
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host, fleet } = target;
    const { cluster } = fleet;
    if (cluster.state !== 'up' || standing(target) !== 'joined' || !isBehind(target, hop)) return [];
    const restarts = oldPods(cluster, host.name, hop.version).length > 0;
    const found = controlPlaneNodes(cluster)
      .filter(({ name }) => name !== host.name || restarts)
      .map((node) => ({ name: node.name, absent: absences(cluster, node) }))
      .filter(({ absent }) => absent.length > 0);
    if (found.length === 0) return [];
    const names = found.map(({ name }) => name).join(', ');
    const listed = found.map(({ name, absent }) => `${name}: ${absent.join(', ')}`).join('; ');
    return [
      {
        summary: `wait until ${names} serves again (found ${listed}): until then no control plane is restarted; \`journalctl -u kubelet\` there says more`,
      },
    ];
  },
});
