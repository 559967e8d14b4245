import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import { inventoryOn, linuxNodes, selects } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type HandlerPod, handlersOf, lostHandlers } from './handlers.facts.ts';
import { containerRuntime } from './runtimes.value.ts';

/** Pods that a message names; of more it gives the number. */
const NAMED = 5;

function podsText(pods: readonly HandlerPod[]): string {
  const names = pods.map(({ namespace, name }) => `${namespace}/${name}`).toSorted();
  const more = names.length > NAMED ? ` and ${String(names.length - NAMED)} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}

/** The handlers that nodes lose by this run, on the node or with their RuntimeClass. */
function losses(inventory: Inventory, { nodes }: ClusterUp, hosts: readonly string[] | undefined) {
  const named = linuxNodes(inventory).map(({ name }) => name);
  const kept = new Set(named.flatMap((name) => handlersOf(inventory, name)));
  const changed = new Set(named.filter((name) => selects(hosts, name)));
  return nodes.flatMap((node) =>
    lostHandlers(inventory, node)
      // The RuntimeClass goes with the last node that has the handler, also where this run does not change the node.
      .filter((handler) => changed.has(node.name) || !kept.has(handler))
      .map((handler) => ({ node: node.name, handler })),
  );
}

function inUse(
  inventory: Inventory,
  cluster: ClusterUp,
  hosts: readonly string[] | undefined,
): readonly Refused<'handler-in-use'>[] {
  const lost = losses(inventory, cluster, hosts);
  if (lost.length === 0) return [];
  const { handlerPods } = cluster;
  return lost.flatMap(({ node, handler }) => {
    const pods = handlerPods.filter((pod) => pod.node === node && pod.handler === handler);
    if (pods.length === 0) return [];
    return [
      new Refused(
        'handler-in-use',
        node,
        `the inventory no longer gives it the handler ${handler} (runtime.handlers), and pods that run by it ` +
          `there could not start again: ${podsText(pods)}`,
        `name the handler again for ${node}; or end these pods: \`kubectl cordon ${node}\` so that they do not ` +
          'come back, restart or scale what owns them, run the same command again, then `kubectl uncordon ' +
          `${node}\``,
      ),
    ];
  });
}

/** Without the API only the host itself shows what its runtime has, and nothing shows which pods use it. */
const unobserved = (
  inventory: Inventory,
  fleet: Fleet,
  reason: string,
  hosts: readonly string[] | undefined,
): readonly Refused<'handler-in-use'>[] =>
  observedLinux(fleet).flatMap(({ host, facts }) => {
    if (!selects(hosts, host.name) || !hasKubelet(facts)) return [];
    const on = inventoryOn(inventory, host);
    const names = containerRuntime(on).handlers?.names?.(on);
    const found = facts.runtimeConfig;
    if (names === undefined || typeof found !== 'object') return [];
    const lost = (found.handlers ?? []).filter((handler) => !names.includes(handler));
    if (lost.length === 0) return [];
    return [
      new Refused(
        'handler-in-use',
        host.name,
        `its runtime has the handler ${lost.join(', ')}, the inventory does not, and kbuild cannot observe which ` +
          `pods run by it: ${reason}`,
        `name it below runtime.handlers until the API answers again; run \`kbuild up\` to bring it back`,
      ),
    ];
  });

/**
 * Why a run may not take handlers of the container runtime away that the inventory no longer names: pods run by them,
 * and could not start again. Refused as well while the API does not answer and a host's runtime shows such a handler.
 * `hosts`: patterns of `--hosts`. Throws `FactError` when a fact that it needs is unknown.
 */
export function handlersInUse(
  inventory: Inventory,
  fleet: Fleet,
  hosts?: readonly string[],
): readonly Refused<'handler-in-use'>[] {
  const { cluster } = fleet;
  if (cluster.state === 'absent') return [];
  return cluster.state === 'up'
    ? inUse(inventory, cluster, hosts)
    : unobserved(inventory, fleet, cluster.reason, hosts);
}
