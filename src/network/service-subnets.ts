import type { Inventory } from '../inventory/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';

/**
 * The ServiceCIDR for a network of `moreServiceSubnets`. Its networks cannot be edited, so each has a name of its own.
 */
export const serviceCidr = (cidr: string): JsonObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: `kbuild-${cidr.replaceAll(/[./]/g, '-')}` },
  spec: { cidrs: [cidr] },
});

/** The ServiceCIDRs that the inventory wants beside kubeadm's. Kubernetes serves them since 1.33. */
export const serviceCidrs = ({ network }: Inventory): readonly JsonObject[] =>
  network.moreServiceSubnets.map(serviceCidr);
