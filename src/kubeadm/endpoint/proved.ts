import { unproved } from '../../cluster/endpoint-move.ts';
import { standing } from '../../cluster/standing.ts';
import type { Step, Target } from '../../engine/step.ts';
import { Refused } from '../../errors.ts';
import type { Kind } from '../../facts/fleet.ts';

/**
 * Waits until the inventory's endpoint serves this cluster to a joined host, with a certificate that names it. The holder of the virtual
 * address has it within seconds, and API servers reload their certificates within a minute.
 */
export const endpointProved: Step = {
  name: 'endpoint-proved',
  settleMs: 2 * 60_000,
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (host.role !== 'control-plane' && host.role !== 'worker') return [];
    if (standing(target) !== 'joined') return [];
    const { newEndpoint } = facts;
    if (newEndpoint === 'not asked' || newEndpoint.answer === 'ok') return [];
    return [
      { summary: `wait until ${inventory.endpoint} serves the API to ${host.name} (found: ${newEndpoint.answer})` },
    ];
  },
};

/** @throws Refused while the endpoint does not serve this cluster to a host: nothing may be led there before */
export function refuseUnproved({ inventory, fleet }: Pick<Target<Kind>, 'inventory' | 'fleet'>): void {
  const found = unproved(inventory, fleet);
  if (found.length === 0) return;
  throw new Refused(
    inventory.name,
    `nothing is led to ${inventory.endpoint} yet: it does not serve this cluster to ${found.join(', ')}`,
    'mend the way there (a firewall, a route, the name), then run the same command again',
  );
}
