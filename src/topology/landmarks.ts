import { onceForEach } from '../shell/once-for-each.ts';
import type { Host, Inventory } from '../model/inventory.ts';

/** Up to this number of hosts, every host is a landmark. */
const FEW = 32;
const OF_A_NETWORK = 2;
const MOST = 64;

/**
 * Hosts whose addresses every host probes, instead of every host probing every other, which costs the square of their
 * number. A small fleet: all hosts. A large one: the control planes and two hosts of each /24, and never more than 64
 * besides the control planes.
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
