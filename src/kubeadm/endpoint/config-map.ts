import { stringify } from 'yaml';
import { acting } from '../../cluster/acting.ts';
import { kubectl } from '../../configuration/kubectl.ts';
import type { Target } from '../../engine/step.ts';
import { objectKey, type ClusterUp } from '../../facts/cluster.ts';
import { ofCluster } from '../../facts/of-cluster.ts';
import {
  kubeconfigOf,
  textIn as texted,
  textsOf,
  withInClusters,
  within,
  type JsonObject,
} from '../../shell/decode.ts';
import { FIELD_MANAGER } from '../../facts/ownership.ts';
import type { On } from '../../remote/remote.ts';
import { sh } from '../../shell/sh.ts';

/** What names an object. */
export interface Identity extends JsonObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/** A text that a ConfigMap of the cluster holds; undefined if it does not hold it. @throws FactError if it has another form */
export function textIn(cluster: ClusterUp, which: Identity, key: string): string | undefined {
  const { name } = which.metadata;
  return ofCluster(cluster, `ConfigMap ${name}`, () => textsOf(cluster.objects.get(objectKey(which))?.['data'])[key]);
}

/** The server of the first cluster of a kubeconfig in the ConfigMap; undefined if it names none. @throws FactError if it is no kubeconfig */
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
 * Patches an object of the cluster. The API refuses to patch a ConfigMap that something has changed since it was observed: its text is
 * replaced whole.
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
