import { reason, type Reason, type Seen } from '../cluster/reasons.ts';
import { Refused } from '../errors.ts';
import { etcdFolderOf } from '../etcd/folder.facts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';
import { clusterConfiguration } from './config.ts';

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
