import type { ClusterUp } from '../facts/cluster.ts';
import type { Inventory } from '../model/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';
import { hasKubeletAuthority, servesByCluster, withoutKubeletAuthority } from '../model/kubelet-serving.ts';

/**
 * True for a live cluster whose API servers are yet to verify the certificates of kubelets, while `serverTLSBootstrap` is what gives
 * kubelets such certificates: the API servers get the flag when every kubelet has one, so that `kubectl logs` works all the time.
 */
export const isAuthorityAhead = ({ hosts, kubeadm }: Inventory, { settings }: ClusterUp): boolean =>
  hasKubeletAuthority(kubeadm.cluster) &&
  hosts.some(servesByCluster) &&
  !hasKubeletAuthority(settings?.['cluster'] as JsonObject | undefined);

/** The inventory as it counts until every kubelet serves with a certificate of the cluster. */
export function beforeKubeletsServe(inventory: Inventory, cluster: ClusterUp): Inventory {
  if (!isAuthorityAhead(inventory, cluster)) return inventory;
  const { kubeadm } = inventory;
  return { ...inventory, kubeadm: { ...kubeadm, cluster: withoutKubeletAuthority(kubeadm.cluster) } };
}
