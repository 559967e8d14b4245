import type { ClusterUp } from '../cluster/fleet/view.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { hasKubeletAuthority, servesByCluster, withoutKubeletAuthority } from '../kubeadm/kubelet-serving.value.ts';
import type { JsonObject } from '../shell/decode.ts';

/**
 * True for a live cluster whose API servers are yet to verify the certificates of kubelets, while `serverTLSBootstrap`
 * is what gives kubelets such certificates: the API servers get the flag when every kubelet has one, so that `kubectl
 * logs` works all the time.
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
