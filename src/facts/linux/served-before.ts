import type { Inventory } from '../../model/inventory.ts';
import { paths } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';
import { withEtcdFolder } from './etcd-folder.ts';

/** What on a host with a marker tells that it served before, or that its init came to its end. */
export interface ServedBefore {
  /** Files that are older than the marker: kubeadm made them in an earlier life of the host. */
  readonly olderThanMarker: readonly string[];
  /** True when the kubelet uses the certificate that it renews itself: kubeadm's init arranges that after all but the add-ons. */
  readonly kubeletFinalized: boolean;
}

/** Empty on a host without a marker. */
export const servedBefore = (inventory: Inventory) =>
  probe(
    withEtcdFolder(
      inventory,
      sh`marker=${paths.marker}
     if [ -e "$marker" ]; then
       for path in "$etcd_folder/member" /etc/kubernetes/manifests/kube-apiserver.yaml; do
         if [ -e "$path" ] && [ "$path" -ot "$marker" ]; then echo "older $path"; fi
       done
       if grep -qs 'client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem' /etc/kubernetes/kubelet.conf; then echo finalized; fi
     fi`,
    ),
    (out): ServedBefore => ({
      olderThanMarker: lines(out).flatMap((line) => (line.startsWith('older ') ? [line.slice('older '.length)] : [])),
      kubeletFinalized: lines(out).includes('finalized'),
    }),
  );
