import { stringify } from 'yaml';
import type { Kind } from '../cluster/fleet/fleet.ts';
import { FIELD_MANAGER } from '../cluster/fleet/ownership.ts';
import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import {
  type JsonObject,
  kubeconfigOf,
  ofCluster,
  textIn as texted,
  textsOf,
  within,
  withInClusters,
} from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { unproved } from './endpoint.ts';

/** The identity of an object. */
export interface Identity extends JsonObject {
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
