import { OWNER_LABEL, SETTINGS } from '../cluster/fleet/ownership.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { reason, type Reason, type Seen } from '../cluster/reasons.ts';
import { Refused } from '../errors.ts';
import { etcdFolderOf } from '../etcd/etcd.facts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { same } from '../inventory/merge.ts';
import type { JsonObject } from '../shell/decode.ts';
import { sha256Of } from '../shell/secret.ts';
import { clusterConfiguration } from './config.ts';
import { deploymentSettings } from './coredns.ts';
import { sharedKubeletConfig } from './kubelet-config.ts';
import {
  areAllServedByCluster,
  hasKubeletAuthority,
  KUBELET_AUTHORITY,
  servesByCluster,
  withoutKubeletAuthority,
} from './kubelet-serving.value.ts';

/** A setting that cannot change after the cluster is built. */
interface FixedSetting {
  /** Its name in the inventory. */
  readonly setting: string;
  readonly wanted: string;
  readonly live: string;
}

const at = (object: JsonObject, path: readonly string[]): string => {
  const value = path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? (inner as JsonObject)[key] : undefined),
    object,
  );
  return typeof value === 'string' ? value : '';
};

const topology = ({ etcd }: JsonObject): string =>
  typeof etcd === 'object' && etcd !== null && 'external' in etcd ? 'external' : 'stacked';

/** Inventory setting → its place in kubeadm's ClusterConfiguration. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  'network.podSubnet': ['networking', 'podSubnet'],
  'network.serviceSubnet': ['networking', 'serviceSubnet'],
  'kubernetes.dnsDomain': ['networking', 'dnsDomain'],
  endpoint: ['controlPlaneEndpoint'],
};

const DATA_DIR = 'kubeadm.cluster.etcd.local.dataDir';

/** The settings of the inventory that differ from the live cluster's and cannot be changed there. */
export function changedFixedSettings(inventory: Inventory, live: JsonObject): readonly FixedSetting[] {
  const wanted = clusterConfiguration(inventory);
  const pairs = Object.entries(FIXED).map(([setting, path]) => ({
    setting,
    wanted: at(wanted, path),
    live: at(live, path),
  }));
  // In a cluster that kbuild did not build, etcd's data may be in another folder. With a manifest for the wrong folder
  // a control plane would start an empty etcd.
  const folder = { setting: DATA_DIR, wanted: etcdFolderOf(inventory), live: at(live, ['etcd', 'local', 'dataDir']) };
  if (inventory.etcd.topology === 'stacked' && folder.live !== '') pairs.push(folder);
  return [...pairs, { setting: 'etcd.topology', wanted: topology(wanted), live: topology(live) }].filter(
    (is) => is.wanted !== is.live,
  );
}

/** Kubernetes' validation of a Node (pkg/apis/core/validation) lets `podCIDRs` be set once. */
const SECOND_FAMILY =
  'a live cluster gets no second family of addresses: each node keeps the pod networks with which it registered, so ' +
  'that every node would have to be deleted and joined again';

/** Settings that the cluster was made with; the endpoint, which `move-endpoint` changes, is not among them. */
export const fixedSettings: Reason<Seen> = reason(['fixed-setting'], ({ inventory, fleet: { cluster } }) =>
  (cluster.state === 'up' ? changedFixedSettings(inventory, cluster.configuration) : [])
    .filter(({ setting }) => setting !== 'endpoint')
    .map(
      ({ setting, wanted, live }) =>
        new Refused(
          'fixed-setting',
          inventory.name,
          `${setting} is ${wanted}, the cluster was made with ${live === '' ? 'none' : live}, and ` +
            (wanted.startsWith(`${live},`) && live !== '' ? SECOND_FAMILY : 'Kubernetes cannot change it'),
          `set ${setting} back${live === '' ? '' : ` to ${live}`}, or build a new cluster`,
        ),
    ),
);

/**
 * True for a live cluster whose API servers do not verify the certificates of kubelets yet, although the inventory
 * wants it and kubelets get such certificates from `serverTLSBootstrap`. The API servers get the flag only when every
 * kubelet has its certificate, so that `kubectl logs` always works.
 */
export const isAuthorityAhead = ({ hosts, kubeadm }: Inventory, { settings }: ClusterUp): boolean =>
  hasKubeletAuthority(kubeadm.cluster) &&
  hosts.some(servesByCluster) &&
  !hasKubeletAuthority(settings?.['cluster'] as JsonObject | undefined);

/**
 * The inventory to apply until every kubelet serves with a certificate of the cluster: without the API servers' flag.
 */
export function beforeKubeletsServe(inventory: Inventory, cluster: ClusterUp): Inventory {
  if (!isAuthorityAhead(inventory, cluster)) return inventory;
  const { kubeadm } = inventory;
  return { ...inventory, kubeadm: { ...kubeadm, cluster: withoutKubeletAuthority(kubeadm.cluster) } };
}

/** Settings that reach a cluster through kubeadm, by the part of the inventory that they come from. */
export type SettingsPart = 'cluster' | 'kubelet' | 'kubeProxy' | 'patches' | 'proxy' | 'images' | 'dns';

/**
 * A change that a run records before it begins: a part, or the flag that API servers get when all kubelets serve with
 * certificates of the cluster.
 */
export type Begun = SettingsPart | typeof KUBELET_AUTHORITY.name;

/** Patches of the kubelet's configuration are compared on each host. */
const isKubeletPatch = (name: string): boolean => name.startsWith('kubeletconfiguration');

/** Hashes of the patch files that change pods, by name. The files may be long, so the ConfigMap holds hashes. */
const podPatches = ({ kubeadm }: Inventory): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(kubeadm.patches)
      .filter(([name]) => !isKubeletPatch(name))
      .map(([name, content]) => [name, sha256Of(content)]),
  );

/** A hash of the proxy settings in kubeadm's static pods. The order of exceptions does not matter. */
const podProxy = ({ proxy }: Inventory): JsonObject =>
  proxy === undefined ? {} : { sha256: sha256Of(JSON.stringify([proxy.http, proxy.https, [...proxy.noProxy].sort()])) };

/** The inventory's settings for kubeadm that can change on a live cluster, by part. */
export const settingsOf = (inventory: Inventory): Readonly<Record<SettingsPart, JsonObject>> => ({
  cluster: inventory.kubeadm.cluster,
  kubelet: sharedKubeletConfig(inventory),
  kubeProxy: inventory.kubeadm.kubeProxy,
  patches: podPatches(inventory),
  proxy: podProxy(inventory),
  images: { repository: inventory.kubernetes.imageRepository },
  dns: deploymentSettings(inventory),
});

const noteOf = (data: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: SETTINGS.name,
    namespace: SETTINGS.namespace,
    labels: { [OWNER_LABEL.name]: OWNER_LABEL.value },
  },
  data,
});

/**
 * The ConfigMap that records applied settings. kbuild compares it with the inventory, so it needs no knowledge of
 * kubeadm's defaults.
 */
export const settingsNote = (inventory: Inventory): JsonObject =>
  noteOf({ [SETTINGS.key]: JSON.stringify(settingsOf(inventory)) });

/**
 * The same ConfigMap before a change: with the settings as they were, and with the parts that are about to change. If
 * the run is interrupted, some control planes have the change, even if the operator then sets the inventory back to the
 * recorded settings.
 */
export const unfinishedNote = (inventory: Inventory, cluster: ClusterUp, begun: readonly Begun[]): JsonObject =>
  noteOf({
    [SETTINGS.key]: JSON.stringify(cluster.settings),
    [SETTINGS.unfinished]: `${[
      ...new Set([
        ...(cluster.unfinished ?? []),
        ...begun,
        ...(begun.includes('patches') ? editedPatches(inventory, cluster) : []),
        ...(begun.includes('cluster') && isEtcdEdited(inventory, cluster) ? [ETCD] : []),
      ]),
    ].join('\n')}\n`,
  });

/**
 * The applied value of a part, also from the ConfigMap of an older kbuild, in which patches, the proxy and DNS may be
 * missing.
 */
export function notedPart(part: SettingsPart, { settings, configuration }: ClusterUp, wanted: JsonObject): unknown {
  const noted = settings?.[part];
  if (noted !== undefined) return noted;
  if (part === 'images') return { repository: configuration['imageRepository'] ?? wanted['repository'] };
  return part === 'patches' || part === 'proxy' || part === 'dns' ? {} : undefined;
}

const isUnfinished = ({ unfinished = [] }: ClusterUp, name: string): boolean => unfinished.includes(name);

/**
 * True if a run has begun to change the part, and not all control planes may have it as it is. The flag for kubelets'
 * certificates counts only if the inventory does not want it: otherwise the step that gave it to some API servers
 * continues.
 */
export const isBegun = ({ hosts }: Inventory, cluster: ClusterUp, part: SettingsPart): boolean =>
  isUnfinished(cluster, part) ||
  (part === 'cluster' && isUnfinished(cluster, KUBELET_AUTHORITY.name) && !areAllServedByCluster(hosts));

/** Name, in the list of unfinished changes, for etcd's own settings of `kubeadm.cluster`. */
const ETCD = 'etcd';

/** True if the settings of etcd in `kubeadm.cluster` were edited since kbuild applied them. */
export const isEtcdEdited = (inventory: Inventory, cluster: ClusterUp): boolean =>
  isUnfinished(cluster, ETCD) ||
  !same(settingsOf(inventory).cluster['etcd'], (cluster.settings?.['cluster'] as JsonObject | undefined)?.['etcd']);

/**
 * The parts of the settings that were edited since kbuild applied them, or that some control planes may not have;
 * `unknown` if the ConfigMap is missing.
 */
export function editedParts(inventory: Inventory, cluster: ClusterUp): readonly SettingsPart[] | 'unknown' {
  if (cluster.settings === undefined) return 'unknown';
  const wanted = Object.entries(settingsOf(inventory)) as readonly (readonly [SettingsPart, JsonObject])[];
  return wanted
    .filter(([part, value]) => isBegun(inventory, cluster, part) || !same(value, notedPart(part, cluster, value)))
    .map(([part]) => part);
}

/**
 * Names of the patch files that change pods and were edited, added or removed since kbuild applied them, or that some
 * control planes may not have.
 */
export function editedPatches(inventory: Inventory, cluster: ClusterUp): readonly string[] {
  const { settings, unfinished = [] } = cluster;
  const wanted: JsonObject = podPatches(inventory);
  const noted = (settings?.['patches'] ?? {}) as JsonObject;
  // Parts have no file extension.
  const begun = unfinished.filter((name) => name.includes('.'));
  return [...new Set([...Object.keys(wanted), ...Object.keys(noted), ...begun])].filter(
    (name) => wanted[name] !== noted[name] || isUnfinished(cluster, name),
  );
}
