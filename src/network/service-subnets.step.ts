import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { manifest, type Manifest } from '../engine/objects.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type JsonObject, ofCluster, textIn, within } from '../shell/decode.ts';

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
const serviceCidrs = ({ network }: Inventory): readonly JsonObject[] => network.moreServiceSubnets.map(serviceCidr);

/** The objects of `moreServiceSubnets`; undefined if there are none. */
export function serviceSubnetManifest(inventory: Inventory): Manifest | undefined {
  const objects = serviceCidrs(inventory);
  if (objects.length === 0) return undefined;
  return { title: `ServiceCIDRs ${inventory.network.moreServiceSubnets.join(', ')}`, objects, compare: 'fields' };
}

/** True for an object that Kubernetes is deleting: its finalizers still keep it. */
const isDeleted = (cluster: ClusterUp, key: string): boolean =>
  ofCluster(cluster, key, () => within(cluster.objects.get(key), 'metadata')['deletionTimestamp'] !== undefined);

const applied = manifest('service-subnets', serviceSubnetManifest);

/**
 * Gives Services the addresses of `moreServiceSubnets`. If the inventory names a removed subnet again, this step first
 * waits until Kubernetes has deleted its old ServiceCIDR: a deletion cannot be undone, and a ServiceCIDR that is being
 * deleted gives no addresses.
 */
export const serviceSubnets: Step<'cluster'> = {
  ...applied,
  diff: (target) => {
    const { inventory, facts } = target;
    const deleted =
      facts.state === 'up' ? serviceCidrs(inventory).filter((object) => isDeleted(facts, objectKey(object))) : [];
    if (deleted.length === 0) return applied.diff(target);
    const names = deleted.map((object) => textIn(within(object, 'metadata')['name'])).join(', ');
    return [
      {
        summary:
          `wait until ServiceCIDR ${names} is deleted: it was removed before and gives no addresses, but ` +
          'Services still use some of them (see `kubectl get ipaddresses`). Or remove it from the inventory ' +
          'again',
      },
    ];
  },
};
