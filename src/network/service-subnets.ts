import { serviceCidrs } from '../configuration/service-subnets.ts';
import type { Step } from '../engine/step.ts';
import { objectKey } from '../facts/cluster.ts';
import type { Inventory, JsonObject } from '../model/inventory.ts';
import { manifest, type Manifest } from '../resources/manifest.ts';

/** The objects of `moreServiceSubnets`; undefined if there are none. */
export function serviceSubnetManifest(inventory: Inventory): Manifest | undefined {
  const objects = serviceCidrs(inventory);
  if (objects.length === 0) return undefined;
  return { title: `ServiceCIDRs ${inventory.network.moreServiceSubnets.join(', ')}`, objects, compare: 'fields' };
}

const isDeleted = (live: JsonObject | undefined): boolean =>
  (live?.['metadata'] as { readonly deletionTimestamp?: unknown } | undefined)?.deletionTimestamp !== undefined;

const applied = manifest('service-subnets', serviceSubnetManifest);

/**
 * Gives Services the addresses of `moreServiceSubnets`. A network that was taken out and comes back waits until Kubernetes has let it
 * go: a ServiceCIDR that is deleted cannot be kept, and gives no addresses.
 */
export const serviceSubnets: Step<'cluster'> = {
  ...applied,
  diff: (target) => {
    const { inventory, facts } = target;
    const deleted =
      facts.state === 'up'
        ? serviceCidrs(inventory).filter((object) => isDeleted(facts.objects.get(objectKey(object))))
        : [];
    if (deleted.length === 0) return applied.diff(target);
    const names = deleted.map(({ metadata }) => (metadata as { readonly name: string }).name).join(', ');
    return [
      {
        summary: `wait until ServiceCIDR ${names} is gone, which was taken out before and gives no addresses; Services still have some of it: \`kubectl get ipaddresses\` names them. Or take it out again`,
      },
    ];
  },
};
