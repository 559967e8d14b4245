import type { ClusterUp } from '../facts/cluster.ts';
import { OWNER_LABEL, SETTINGS } from '../facts/ownership.ts';
import type { Inventory, JsonObject } from '../inventory/inventory.ts';
import { sharedKubeletConfig } from './kubelet-config.ts';
import { same } from './compare.ts';

/** Settings that kubeadm keeps in the cluster, by the part of the inventory that they come from. */
export type SettingsPart = 'cluster' | 'kubelet' | 'kubeProxy';

/** What the inventory tells kubeadm, beyond what makes a cluster this cluster. */
export const settingsOf = (inventory: Inventory): Readonly<Record<SettingsPart, JsonObject>> => ({
  cluster: inventory.kubeadm.cluster,
  kubelet: sharedKubeletConfig(inventory),
  kubeProxy: inventory.kubeadm.kubeProxy,
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

/** The parts of the inventory's settings that were edited since they were applied; `unknown` without a note. */
export function editedParts(inventory: Inventory, { settings }: ClusterUp): readonly SettingsPart[] | 'unknown' {
  if (settings === undefined) return 'unknown';
  const wanted = Object.entries(settingsOf(inventory)) as readonly (readonly [SettingsPart, JsonObject])[];
  return wanted.filter(([part, value]) => !same(value, settings[part])).map(([part]) => part);
}
