import type { Inventory } from '../../model/inventory.ts';
import { paths } from '../../paths.ts';
import { script } from '../../templates.ts';
import { lines, probe } from '../../shell/probe.ts';
import { withEtcdFolder } from './etcd-folder.ts';

/** Signs on a host with a marker that it served before, or that its `kubeadm init` ended. */
export interface ServedBefore {
  /** Files that are older than the marker: kubeadm made them in an earlier life of the host. */
  readonly olderThanMarker: readonly string[];
  /** True when the kubelet uses the certificate that it renews itself: kubeadm's init arranges that after all but the add-ons. */
  readonly kubeletFinalized: boolean;
}

/** Empty on a host without a marker. */
export const servedBefore = (inventory: Inventory) =>
  probe(
    withEtcdFolder(inventory, script('linux/probe-served-before.sh', { MARKER: paths.marker })),
    (out): ServedBefore => ({
      olderThanMarker: lines(out).flatMap((line) => (line.startsWith('older ') ? [line.slice('older '.length)] : [])),
      kubeletFinalized: lines(out).includes('finalized'),
    }),
  );
