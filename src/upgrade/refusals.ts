import type { Refused } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';

/** Why an upgrade may not start. */
export const upgradeRefusals = (
  _inventory: Inventory,
  _fleet: Fleet,
  _hops: readonly string[],
): readonly Refused[] => [];
