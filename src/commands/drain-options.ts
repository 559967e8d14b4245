import type { Drain } from '../engine/drain.ts';
import { atOnceOf } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Flags } from '../session/options.ts';
import type { RebootOptions } from './hosts.command.ts';
import type { UpgradeOptions } from './up.command.ts';

/** How nodes are drained, by `--no-drain` and `--drain-timeout`, or by `rollout.drainTimeout` of the inventory. */
export const drainOf = ({ rollout }: Inventory, flags: Pick<Flags, 'drain' | 'drainTimeout'>): Drain =>
  flags.drain === false ? 'no' : { timeoutMs: flags.drainTimeout ?? rollout.drainTimeoutMs };

/**
 * How a command that drains one node after another does it, by `--drain-timeout`, `--disable-eviction` and `--force`.
 */
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
