import { parse, stringify } from 'yaml';
import { acting } from '../../cluster/acting.ts';
import { kubectl } from '../../configuration/kubectl.ts';
import type { Target } from '../../engine/step.ts';
import { objectKey, type ClusterUp } from '../../facts/cluster.ts';
import { FIELD_MANAGER } from '../../facts/ownership.ts';
import type { JsonObject } from '../../model/inventory.ts';
import type { On } from '../../remote/remote.ts';
import { sh } from '../../shell/sh.ts';

/** What names an object. */
export interface Identity extends JsonObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

interface Kubeconfig {
  readonly clusters?: readonly { readonly cluster?: { readonly server?: string } }[];
}

/** A text that a ConfigMap of the cluster holds; undefined if it does not hold it. */
export function textIn({ objects }: ClusterUp, which: Identity, key: string): string | undefined {
  const data = objects.get(objectKey(which))?.['data'] as Readonly<Record<string, unknown>> | undefined;
  const text = data?.[key];
  return typeof text === 'string' ? text : undefined;
}

/** The server of the first cluster of a kubeconfig; undefined if it names none. */
export const serverIn = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : (parse(text) as Kubeconfig | null)?.clusters?.[0]?.cluster?.server;

/** The same kubeconfig with this server. */
export function withServer(text: string, server: string): string {
  const config = parse(text) as Kubeconfig;
  const clusters = (config.clusters ?? []).map((one) => ({ ...one, cluster: { ...one.cluster, server } }));
  return stringify({ ...config, clusters }, { lineWidth: 0 });
}

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
  const { resourceVersion } = (live?.['metadata'] ?? {}) as { readonly resourceVersion?: string };
  const { name, namespace } = which.metadata;
  const whole = which['kind'] === 'ConfigMap' ? { ...patch, metadata: { resourceVersion } } : patch;
  await on(host).run(
    sh`printf %s ${JSON.stringify(whole)} | ${kubectl(inventory, host)} -n ${namespace} patch ${String(which['kind']).toLowerCase()} ${name} --type merge --field-manager ${FIELD_MANAGER} --patch-file /dev/stdin`,
  );
}
