import type { JsonObject, Inventory } from '../inventory/inventory.ts';
import { clusterConfiguration } from './kubeadm-config.ts';

/** A setting that Kubernetes fixes when the cluster is made. */
export interface FixedSetting {
  /** As the inventory calls it. */
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

/** Inventory setting → its place in kubeadm's ClusterConfiguration. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  'network.podSubnet': ['networking', 'podSubnet'],
  'network.serviceSubnet': ['networking', 'serviceSubnet'],
  'kubernetes.dnsDomain': ['networking', 'dnsDomain'],
  endpoint: ['controlPlaneEndpoint'],
};

/** The settings of the inventory that differ from the live cluster's and cannot be changed there. */
export function changedFixedSettings(inventory: Inventory, live: JsonObject): readonly FixedSetting[] {
  const wanted = clusterConfiguration(inventory);
  return Object.entries(FIXED).flatMap(([setting, path]) => {
    const is = { setting, wanted: at(wanted, path), live: at(live, path) };
    return is.wanted === is.live ? [] : [is];
  });
}
