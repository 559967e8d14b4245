import type { ClusterUp } from '../cluster/fleet/view.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { hasKubeletAuthority, servesByCluster, withoutKubeletAuthority } from '../kubeadm/kubelet-serving.value.ts';
import type { JsonObject } from '../shell/decode.ts';

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
