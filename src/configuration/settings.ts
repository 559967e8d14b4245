import { createHash } from 'node:crypto';
import type { ClusterUp } from '../facts/cluster.ts';
import { OWNER_LABEL, SETTINGS } from '../facts/ownership.ts';
import type { Inventory, JsonObject } from '../model/inventory.ts';
import { sharedKubeletConfig } from './kubelet-config.ts';
import { same } from './compare.ts';

/** Settings that reach a cluster through kubeadm, by the part of the inventory that they come from. */
export type SettingsPart = 'cluster' | 'kubelet' | 'kubeProxy' | 'patches' | 'proxy' | 'images';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Patches of the kubelet's configuration show in that of each host: they are compared there. */
const isKubeletPatch = (name: string): boolean => name.startsWith('kubeletconfiguration');

/** Hashes of the patch files that change pods, by name: the files may be long. */
const podPatches = ({ kubeadm }: Inventory): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(kubeadm.patches)
      .filter(([name]) => !isKubeletPatch(name))
      .map(([name, content]) => [name, sha256(content)]),
  );

/** A hash of the proxy that kubeadm puts into the pods that it makes: the list of exceptions is long. Their order does not matter. */
const podProxy = ({ proxy }: Inventory): JsonObject =>
  proxy === undefined ? {} : { sha256: sha256(JSON.stringify([proxy.http, proxy.https, [...proxy.noProxy].sort()])) };

/** What the inventory tells kubeadm, beyond what makes a cluster this cluster. */
export const settingsOf = (inventory: Inventory): Readonly<Record<SettingsPart, JsonObject>> => ({
  cluster: inventory.kubeadm.cluster,
  kubelet: sharedKubeletConfig(inventory),
  kubeProxy: inventory.kubeadm.kubeProxy,
  patches: podPatches(inventory),
  proxy: podProxy(inventory),
  images: { repository: inventory.kubernetes.imageRepository },
});

/** The ConfigMap that notes them: comparing what was asked with what is asked needs no knowledge of kubeadm's defaults. */
export const settingsNote = (inventory: Inventory): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: SETTINGS.name,
    namespace: SETTINGS.namespace,
    labels: { [OWNER_LABEL.name]: OWNER_LABEL.value },
  },
  data: { [SETTINGS.key]: JSON.stringify(settingsOf(inventory)) },
});

/** What a part was, as far as a note tells that an older kbuild wrote: patches and the proxy may never have been applied. */
export function notedPart(part: SettingsPart, { settings, configuration }: ClusterUp, wanted: JsonObject): unknown {
  const noted = settings?.[part];
  if (noted !== undefined) return noted;
  if (part === 'images') return { repository: configuration['imageRepository'] ?? wanted['repository'] };
  return part === 'patches' || part === 'proxy' ? {} : undefined;
}

/** The parts of the inventory's settings that were edited since they were applied; `unknown` without a note. */
export function editedParts(inventory: Inventory, cluster: ClusterUp): readonly SettingsPart[] | 'unknown' {
  if (cluster.settings === undefined) return 'unknown';
  const wanted = Object.entries(settingsOf(inventory)) as readonly (readonly [SettingsPart, JsonObject])[];
  return wanted.filter(([part, value]) => !same(value, notedPart(part, cluster, value))).map(([part]) => part);
}

/** Names of the patch files that change pods and were edited, added or removed since they were applied. */
export function editedPatches(inventory: Inventory, { settings }: ClusterUp): readonly string[] {
  const wanted: JsonObject = podPatches(inventory);
  const noted = (settings?.['patches'] ?? {}) as JsonObject;
  return [...new Set([...Object.keys(wanted), ...Object.keys(noted)])].filter((name) => wanted[name] !== noted[name]);
}
