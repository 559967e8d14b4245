import type { Inventory } from '../../model/inventory.ts';
import { minorFacts } from '../../versions.ts';

/** The pause image that kubeadm of the inventory's minor expects; runtime and kubeadm must name the same. */
export const pauseImage = ({ kubernetes }: Inventory): string =>
  `${kubernetes.imageRepository}/pause:${minorFacts(kubernetes.minor)?.images.pause ?? '3.10.2'}`;
