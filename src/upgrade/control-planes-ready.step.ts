import { ailingControllers } from '../cluster/ailments.ts';
import type { ClusterUp, NodeView } from '../cluster/fleet/view.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';
import type { Hop } from './hop.ts';
import { isBehind, oldPods } from './versions.ts';

/** What keeps a control plane from taking over while another one restarts; empty if it serves. */
function absences(cluster: ClusterUp, { name, ready, reason }: NodeView): readonly string[] {
  const server = cluster.apiServers.get(name) ?? 'no answer';
  return [...(ready ? [] : [`its node: ${reason}`]), ...(server === 'ok' ? [] : [`its API server: ${server}`])];
}

/**
 * Controller manager and scheduler of a control plane that could not take over from those of this host. One that does
 * not work here either is not asked for: nothing is taken away, and the upgrade may be what mends it.
 */
function missedControllers(cluster: ClusterUp, host: string, { name }: NodeView): readonly string[] {
  const own = ailingControllers(cluster, host).map(componentOf);
  return name === host ? [] : ailingControllers(cluster, name).filter((text) => !own.includes(componentOf(text)));
}

const componentOf = (text: string): string => text.slice(0, text.indexOf(':'));

/**
 * Waits until every control plane is Ready and its API server, its controller manager and its scheduler serve, before
 * one of them restarts. kubeadm itself checks nodes only, for `upgrade apply`, when kbuild has brought etcd to its
 * minimum already, and nothing for `upgrade node`. Holds where nothing of the host is older than the hop. A host whose
 * static pods are upgraded does not wait for its own node: the newer kubelet may be what mends it. The gate asks for
 * etcd and for the leases, immediately before the restart (`passRestartGate`).
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
      .map((node) => ({
        name: node.name,
        absent: [
          ...absences(cluster, node),
          ...missedControllers(cluster, host.name, node).map((text) => `its ${text}`),
        ],
      }))
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
