import type { Host, Inventory } from '../model/inventory.ts';
import type { Drain } from '../resources/drain.ts';
import { atOnceOf } from '../topology/select.ts';
import type { RebootOptions } from './commands/reboot.ts';
import type { UpgradeOptions } from './commands/upgrade.ts';
import { drainOf } from './remove.ts';

/** How a command that drains one node after another does it, by `--drain-timeout`, `--disable-eviction` and `--force`. */
export function rollingDrain(
  inventory: Inventory,
  flags: RebootOptions | UpgradeOptions,
): {
  readonly drain: Drain;
  readonly losesPods: boolean;
} {
  const drain = drainOf(inventory, flags);
  return {
    drain: drain === 'no' ? drain : { ...drain, ignoresBudgets: flags.disableEviction === true },
    losesPods: flags.force === true,
  };
}

/** How many of these workers may be away at once, by `--max-unavailable`, or by `rollout.maxUnavailable` without it. */
export const awayAtOnce = (
  inventory: Inventory,
  workers: readonly Host[],
  { maxUnavailable }: RebootOptions | UpgradeOptions,
): number => maxUnavailable?.(workers.length) ?? atOnceOf(inventory, workers);
