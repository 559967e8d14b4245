import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { manifest, type Manifest } from '../engine/objects.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { ofCluster, textIn, within } from '../shell/decode.ts';
import { serviceCidrs } from './service-subnets.ts';

/** The objects of `moreServiceSubnets`; undefined if there are none. */
export function serviceSubnetManifest(inventory: Inventory): Manifest | undefined {
  const objects = serviceCidrs(inventory);
  if (objects.length === 0) return undefined;
  return { title: `ServiceCIDRs ${inventory.network.moreServiceSubnets.join(', ')}`, objects, compare: 'fields' };
}

/** True for an object that Kubernetes has not let go yet. */
const isDeleted = (cluster: ClusterUp, key: string): boolean =>
  ofCluster(cluster, key, () => within(cluster.objects.get(key), 'metadata')['deletionTimestamp'] !== undefined);

const applied = manifest('service-subnets', serviceSubnetManifest);

/**
 * Gives Services the addresses of `moreServiceSubnets`. A network that was taken out and comes back waits until
 * Kubernetes has let it go: a ServiceCIDR that is deleted cannot be kept, and gives no addresses.
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
        summary: `wait until ServiceCIDR ${names} is gone, which was taken out before and gives no addresses; Services still have some of it: \`kubectl get ipaddresses\` names them. Or take it out again`,
      },
    ];
  },
};
