import { onceForEach } from '../shell/once-for-each.ts';
import type { Host, Inventory } from '../model/inventory.ts';

/** Up to so many hosts nobody stands for another. */
const FEW = 32;
const OF_A_NETWORK = 2;
const MOST = 64;

/**
 * Hosts whose addresses stand for all: every host asked for the way to every other would cost the square of their number.
 * All of a few; of many the control planes and two of each /24, and never more than 64 besides the control planes.
 */
export const landmarks = onceForEach(({ hosts }: Inventory): readonly Host[] => {
  if (hosts.length <= FEW) return hosts;
  const seen = new Map<string, number>();
  const others = hosts.filter(({ role, internalAddress }) => {
    if (role === 'control-plane') return false;
    const network = internalAddress.slice(0, internalAddress.lastIndexOf('.'));
    const before = seen.get(network) ?? 0;
    seen.set(network, before + 1);
    return before < OF_A_NETWORK;
  });
  const chosen = new Set(others.filter((_, index) => index % Math.ceil(others.length / MOST) === 0));
  return hosts.filter((host) => host.role === 'control-plane' || chosen.has(host));
});
