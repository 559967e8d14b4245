import type { KeepalivedBalancer } from '../model/control-plane.ts';
import type { Inventory } from '../model/inventory.ts';

/** The load balancer of an inventory whose hosts are balancers. Throws a plain `Error` (a bug) for any other. */
export function keepalivedOf({ loadBalancer }: Inventory): KeepalivedBalancer {
  if (loadBalancer.kind !== 'keepalived') throw new Error(`no balancer is built with kind ${loadBalancer.kind}`);
  return loadBalancer;
}
