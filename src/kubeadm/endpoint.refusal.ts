import { anotherSigner } from '../certificates/authority.refusal.ts';
import { duringRotation } from '../certificates/rotation.refusal.ts';
import { observedLinux } from '../cluster/fleet/fleet.ts';
import { cutOff, halfUpgraded, type SeenLive } from '../cluster/live.ts';
import { reason, type Reason } from '../cluster/reasons.ts';
import { Refused } from '../errors.ts';
import { unfinishedActions } from '../host/unfinished.refusal.ts';
import { joinedNodes } from './endpoint.ts';
import { fixedSettings } from './settings.ts';

/** Why the cluster may not be led to the inventory's endpoint now, besides what every command refuses. */
export const moveReasons: readonly Reason<SeenLive>[] = [
  reason(['unreadable-marker', 'unfinished-action'], ({ fleet }) => unfinishedActions(fleet, 'move-endpoint')),
  halfUpgraded,
  reason(['rotation-under-way'], ({ inventory, fleet }) =>
    duringRotation(inventory, fleet, 'the endpoint cannot move'),
  ),
  reason(['authority-signer', 'authority-key-missing'], ({ inventory, fleet }) => anotherSigner(inventory, fleet)),
  fixedSettings,
  reason(['windows-node-cut-off', 'unnamed-node'], (seen) =>
    cutOff(seen, 'lead a Windows node to another endpoint', ' when the old endpoint goes'),
  ),
  reason(['endpoint-of-other-cluster'], ({ inventory, fleet }) => {
    const met = joinedNodes(inventory, fleet).flatMap(({ host, facts: { newEndpoint } }) =>
      newEndpoint !== 'not asked' && newEndpoint.whose === 'other' ? [{ host, answer: newEndpoint.answer }] : [],
    );
    if (met.length === 0) return undefined;
    return new Refused(
      'endpoint-of-other-cluster',
      met.map(({ host }) => host.name).join(', '),
      `${inventory.endpoint} does not serve this cluster: its certificate is of another CA (${met[0]!.answer})`,
      'name an endpoint that leads to the control planes of this cluster, and nowhere else',
    );
  }),
  // A machine that is no host of the inventory has the virtual address.
  reason(['address-taken'], ({ inventory, fleet }) => {
    const { loadBalancer } = inventory;
    if (!('address' in loadBalancer)) return undefined;
    const { address } = loadBalancer;
    const isOurs = observedLinux(fleet).some(({ facts }) =>
      facts.interfaces.some(({ addresses }) => addresses.includes(address)),
    );
    const seenBy = joinedNodes(inventory, fleet).filter(
      ({ facts: { newEndpoint } }) => newEndpoint !== 'not asked' && newEndpoint.isHeld && newEndpoint.whose !== 'ours',
    );
    if (isOurs || seenBy.length === 0) return undefined;
    return new Refused(
      'address-taken',
      seenBy.map(({ host }) => host.name).join(', '),
      `another machine has the virtual address ${address}`,
      'choose a free address for loadBalancer.address',
    );
  }),
];
