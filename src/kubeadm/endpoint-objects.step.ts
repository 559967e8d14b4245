import { stringify } from 'yaml';
import type { Kind } from '../cluster/fleet/fleet.ts';
import { FIELD_MANAGER } from '../cluster/fleet/ownership.ts';
import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory } from '../inventory/inventory.ts';
import {
  type JsonObject,
  kubeconfigOf,
  numberIn,
  ofCluster,
  textIn as texted,
  textsOf,
  within,
  withInClusters,
} from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { KUBEADMS_PROGRAMS } from './coredns.ts';
import { isLoopback, isMoving, liveEndpoint, serverAt, unproved } from './endpoint.ts';

/** The identity of an object. */
interface Identity extends JsonObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/**
 * A text in a ConfigMap of the cluster; undefined if the ConfigMap does not have it. @throws FactError if it has
 * another form
 */
export function textIn(cluster: ClusterUp, which: Identity, key: string): string | undefined {
  const { name } = which.metadata;
  return ofCluster(cluster, `ConfigMap ${name}`, () => textsOf(cluster.objects.get(objectKey(which))?.['data'])[key]);
}

/**
 * The server of the first cluster of a kubeconfig in the ConfigMap; undefined if it names none. @throws FactError if it
 * is no kubeconfig
 */
export function serverIn(cluster: ClusterUp, which: Identity, key: string): string | undefined {
  const text = textIn(cluster, which, key);
  if (text === undefined) return undefined;
  return ofCluster(cluster, `the kubeconfig in ConfigMap ${which.metadata.name}`, () => {
    const server = kubeconfigOf(text).clusters[0]?.cluster['server'];
    return server === undefined ? undefined : texted(server);
  });
}

/** The same kubeconfig with this server. */
export const withServer = (text: string, server: string): string =>
  stringify(withInClusters(kubeconfigOf(text), { server }), { lineWidth: 0 });

/**
 * Patches an object of the cluster. The patch replaces the whole text, so the API refuses it if the ConfigMap has
 * changed since kbuild observed it.
 */
export async function patchObject(
  { inventory, fleet, facts }: Target<'cluster'>,
  which: Identity,
  patch: JsonObject,
  on: On,
): Promise<void> {
  const host = acting(fleet);
  const live = facts.state === 'up' ? facts.objects.get(objectKey(which)) : undefined;
  const { resourceVersion } = within(live, 'metadata');
  const { name, namespace } = which.metadata;
  const whole = which['kind'] === 'ConfigMap' ? { ...patch, metadata: { resourceVersion } } : patch;
  await on(host).run(
    sh`printf %s ${JSON.stringify(whole)} | ${kubectl(inventory, host)} -n ${namespace} patch ${String(which['kind']).toLowerCase()} ${name} --type merge --field-manager ${FIELD_MANAGER} --patch-file /dev/stdin`,
  );
}

/**
 * Waits until the inventory's endpoint serves this cluster to a joined host, with a certificate that names it. The
 * holder of the virtual address has it within seconds, and API servers reload their certificates within a minute.
 */
export const endpointProved: Step = {
  name: 'endpoint-proved',
  settleMs: 2 * 60_000,
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (host.role !== 'control-plane' && host.role !== 'worker') return [];
    if (standing(target) !== 'joined') return [];
    const { newEndpoint } = facts;
    if (newEndpoint === 'not asked' || newEndpoint.answer === 'ok') return [];
    return [
      { summary: `wait until ${inventory.endpoint} serves the API to ${host.name} (found: ${newEndpoint.answer})` },
    ];
  },
};

/** @throws Refused while the endpoint does not serve this cluster to a host: kbuild must not point clients to it yet */
export function refuseUnproved({ inventory, fleet }: Pick<Target<Kind>, 'inventory' | 'fleet'>): void {
  const found = unproved(inventory, fleet);
  if (found.length === 0) return;
  throw new Refused(
    'endpoint-not-serving',
    inventory.name,
    `nothing is led to ${inventory.endpoint} yet: it does not serve this cluster to ${found.join(', ')}`,
    'mend the way there (a firewall, a route, the name), then run the same command again',
  );
}

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
  if (found === undefined || (isLoopback(found) && found !== serverAt(liveEndpoint(cluster)))) return undefined;
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
