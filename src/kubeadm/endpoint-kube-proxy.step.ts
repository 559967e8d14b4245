import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type JsonObject, numberIn, ofCluster, textsOf, within } from '../shell/decode.ts';
import { KUBEADMS_PROGRAMS } from './addons.value.ts';
import { patchObject, refuseUnproved, serverIn, textIn, withServer } from './endpoint-config-map.step.ts';
import { isLoopback, isMoving, serverAt } from './endpoint.ts';

/** kubeadm's ConfigMap of kube-proxy. */
export const KUBE_PROXY_CONFIG = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kube-proxy', namespace: 'kube-system' },
} as const;

/** kubeadm's DaemonSet. */
export const KUBE_PROXY = KUBEADMS_PROGRAMS[0];

const KEY = 'kubeconfig.conf';

/**
 * An annotation of kube-proxy's pods: the endpoint for which a move restarted them. kube-proxy reads its kubeconfig
 * only at its start.
 */
const ANNOTATION = 'kbuild.dev/endpoint';

/** Limit in ms for a node to replace its pod. Nodes replace their pods one after another. */
const ROLLED_MS = 30_000;

/** What kbuild reads of the DaemonSet. */
interface DaemonSet {
  /** The endpoint for which a move restarted its pods; undefined if no move did. */
  readonly startedFor: string | undefined;
  /** The unfinished part of the rollout, as text; undefined if every pod is available and has the current template. */
  readonly rolling: string | undefined;
}

function rollingOf(daemonSet: JsonObject): string | undefined {
  const status = within(daemonSet, 'status');
  const [all, updated, away] = ['desiredNumberScheduled', 'updatedNumberScheduled', 'numberUnavailable'].map((field) =>
    numberIn(status[field], 0),
  ) as [number, number, number];
  if (status['observedGeneration'] !== within(daemonSet, 'metadata')['generation'])
    return 'its controller has not begun';
  if (updated >= all && away === 0) return undefined;
  return `${String(updated)} of ${String(all)} started again, ${String(away)} not available`;
}

/** @throws FactError if the DaemonSet has another form */
function daemonSetIn(cluster: ClusterUp): DaemonSet | undefined {
  const live = cluster.objects.get(objectKey(KUBE_PROXY));
  if (live === undefined) return undefined;
  return ofCluster(cluster, 'the DaemonSet kube-proxy', () => ({
    startedFor: textsOf(within(live, 'spec', 'template', 'metadata')['annotations'])[ANNOTATION],
    rolling: rollingOf(live),
  }));
}

/**
 * The reason why kube-proxy does not use the inventory's endpoint yet, as text after "found"; undefined if it does, or
 * if the cluster has no kube-proxy.
 */
export function kubeProxyAstray(inventory: Inventory, cluster: ClusterUp): string | undefined {
  const found = serverIn(cluster, KUBE_PROXY_CONFIG, KEY);
  const daemonSet = daemonSetIn(cluster);
  if (found === undefined || isLoopback(found)) return undefined;
  if (found !== serverAt(inventory.endpoint)) return found;
  // A move changes kubeadm's configuration last, so kube-proxy already uses the endpoint when the configuration names
  // it.
  if (daemonSet === undefined || !isMoving(inventory, cluster)) return undefined;
  return daemonSet.startedFor === inventory.endpoint ? undefined : 'pods older than the ConfigMap';
}

async function lead(target: Target<'cluster'>, cluster: ClusterUp, on: Parameters<NonNullable<Change['apply']>>[0]) {
  const { inventory } = target;
  refuseUnproved(target);
  const server = serverAt(inventory.endpoint);
  const text = textIn(cluster, KUBE_PROXY_CONFIG, KEY)!;
  if (serverIn(cluster, KUBE_PROXY_CONFIG, KEY) !== server)
    await patchObject(target, KUBE_PROXY_CONFIG, { data: { [KEY]: withServer(text, server) } }, on);
  if (daemonSetIn(cluster) === undefined) return;
  const annotations: JsonObject = { [ANNOTATION]: inventory.endpoint };
  await patchObject(target, KUBE_PROXY, { spec: { template: { metadata: { annotations } } } }, on);
}

/** Points kube-proxy to the inventory's endpoint: changes its ConfigMap, then restarts its pods. */
export const kubeProxyLed = ({ hosts }: Inventory): Step<'cluster'> => ({
  name: 'kube-proxy-led',
  settleMs: 5 * 60_000 + hosts.length * ROLLED_MS,
  diff: (target) => {
    const { inventory, facts } = target;
    if (facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const astray = kubeProxyAstray(inventory, facts);
    if (astray !== undefined)
      return [
        {
          summary: `lead kube-proxy to ${serverAt(inventory.endpoint)}, and start its pods again (found ${astray})`,
          restarts: [
            { what: 'kube-proxy', hosts: facts.nodes.map(({ name }) => name), aboutMs: ABOUT_MS.pod, atOnce: 1 },
          ],
          apply: (on) => lead(target, facts, on),
        },
      ];
    const left = isMoving(inventory, facts) ? daemonSetIn(facts)?.rolling : undefined;
    return left === undefined ? [] : [{ summary: `wait until every kube-proxy has started again (found ${left})` }];
  },
});
