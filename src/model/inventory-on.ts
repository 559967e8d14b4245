import { onceForEach } from '../shell/once-for-each.ts';
import type { Host, Inventory, LinuxHost } from './inventory.ts';

const views = onceForEach((_: Inventory) => new Map<LinuxHost['runtime'], Inventory>());

/**
 * The inventory as it holds on one host: `runtime` is that of the host. What runs on a host, or is about it, takes its settings
 * from there. The same object for the same host, whatever host the given inventory held for.
 */
export function inventoryOn(inventory: Inventory, host: Host): Inventory {
  if (host.os === 'windows' || host.runtime === undefined || host.runtime === inventory.runtime) return inventory;
  const known = views(inventory);
  const view = known.get(host.runtime) ?? { ...inventory, runtime: host.runtime };
  known.set(host.runtime, view);
  return view;
}
