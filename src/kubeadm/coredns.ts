import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type JsonObject, numberIn, objectsOf, ofCluster, textsOf, within } from '../shell/decode.ts';
import { toYaml } from '../shell/yaml.ts';
import { quantityOf } from './typed.value.ts';

const NAMESPACE = 'kube-system';

/** The objects that kubeadm itself creates in a cluster, by identity. */
export const KUBEADMS_PROGRAMS = [
  { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'kube-proxy', namespace: NAMESPACE } },
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'coredns', namespace: NAMESPACE } },
] as const;

/** kubeadm's Deployment of cluster DNS. */
export const COREDNS = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'coredns', namespace: 'kube-system' },
} as const;

/** The container of the Deployment. */
const CONTAINER = 'coredns';

/** kubeadm's default number of pods: coreDNSReplicas in cmd/kubeadm/app/phases/addons/dns/dns.go. */
const KUBEADMS_REPLICAS = 2;

/** The settings of `dns` that change the Deployment. */
export const deploymentSettings = ({ dns: { replicas, resources } }: Inventory): JsonObject => ({
  ...(replicas === undefined ? {} : { replicas }),
  ...(resources === undefined ? {} : { resources }),
});

/** True if the inventory has any setting of `dns`. */
export const isDnsSet = (inventory: Inventory): boolean =>
  Object.keys(deploymentSettings(inventory)).length > 0 || Object.keys(inventory.dns.blocks).length > 0;

/** Sorts after `corednsdeployment0…9`, so that `dns` wins over patch files of the inventory. */
const DNS_PATCH = 'corednsdeploymentzz-kbuild+strategic.yaml';

/**
 * kubeadm's patch with the settings of `dns`, by file name; empty if there are none. kubeadm replaces the Deployment
 * whenever it upgrades it, and keeps only the settings of its patches. With this patch the settings are never lost
 * during an upgrade.
 */
export function dnsPatch(inventory: Inventory): Readonly<Record<string, string>> {
  const { replicas, resources } = inventory.dns;
  if (replicas === undefined && resources === undefined) return {};
  const spec = {
    ...(replicas === undefined ? {} : { replicas }),
    ...(resources === undefined ? {} : { template: { spec: { containers: [{ name: CONTAINER, resources }] } } }),
  };
  return { [DNS_PATCH]: toYaml([{ spec }]) };
}

/** The same settings in the live Deployment. Throws on another form. */
function liveSettings(live: JsonObject) {
  const spec = within(live, 'spec');
  const containers = objectsOf(within(spec, 'template', 'spec')['containers']);
  const resources = within(
    containers.find(({ name }) => name === CONTAINER),
    'resources',
  );
  return {
    // The API server's default.
    replicas: numberIn(spec['replicas'], 1),
    requests: textsOf(resources['requests']),
    limits: textsOf(resources['limits']),
  };
}

/** True if the API shows another value for an amount: it may spell `0.5` as `500m`. */
const differs = (desired: string, live: string | undefined): boolean =>
  live === undefined || quantityOf(desired) !== quantityOf(live);

/**
 * The values of the live Deployment that differ from `dns`, e.g. `replicas 1`; empty if none does. A missing Deployment
 * is no difference: kubeadm deploys it, and the plan of an upgrade says that it comes back.
 */
export function dnsDifferences({ dns: { replicas, resources } }: Inventory, cluster: ClusterUp): readonly string[] {
  if (replicas === undefined && resources === undefined) return [];
  const live = cluster.objects.get(objectKey(COREDNS));
  if (live === undefined) return [];
  const found = ofCluster(cluster, 'the Deployment coredns', () => liveSettings(live));
  return [
    ...(replicas === undefined || found.replicas === replicas ? [] : [`replicas ${String(found.replicas)}`]),
    ...(['requests', 'limits'] as const).flatMap((kind) =>
      (['cpu', 'memory'] as const).flatMap((name) => {
        const desired = resources?.[kind]?.[name];
        const is = found[kind][name];
        return desired === undefined || !differs(desired, is) ? [] : [`${kind}.${name} ${is ?? 'unset'}`];
      }),
    ),
  ];
}

/**
 * The number of pods to which kbuild resets the Deployment: kubeadm's default if the inventory no longer names a
 * number, undefined if it never named one.
 */
export function replicasBack({ dns }: Inventory, { settings }: ClusterUp): number | undefined {
  const noted = (settings?.['dns'] ?? {}) as { readonly replicas?: unknown };
  return dns.replicas === undefined && noted.replicas !== undefined ? KUBEADMS_REPLICAS : undefined;
}
