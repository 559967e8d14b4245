import { familyOf, isWithin } from '../inventory/addresses.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Firewall } from './firewalld.facts.ts';
import { type Opening, openings } from './openings.value.ts';

/** True if network `inner` lies within network `outer`. */
const within = (inner: string, outer: string): boolean =>
  outer === 'any' || (outer === '0.0.0.0/0' && familyOf(inner) === 'IPv4') || isWithin(inner, outer);

/** True if a firewall sees the packets: a chain of nftables may be of one family. */
function sees({ kind, place }: Firewall, { from, to }: Opening): boolean {
  const family = [from, to].find((one) => one !== 'any');
  if (kind !== 'nftables' || family === undefined) return true;
  return !place.startsWith(familyOf(family) === 'IPv6' ? 'ip ' : 'ip6 ');
}

const covers = (rule: Opening, need: Opening): boolean =>
  (rule.protocol === 'any' || rule.protocol === need.protocol) &&
  rule.ports[0] <= need.ports[0] &&
  rule.ports[1] >= need.ports[1] &&
  within(need.from, rule.from) &&
  within(need.to, rule.to);

const needed = (inventory: Inventory, host: Host, firewall: Firewall): readonly Opening[] =>
  openings(inventory, host).filter((one) => one.hook === firewall.hook && sees(firewall, one));

/** The openings that the host needs and its firewall blocks. */
export const closedOpenings = (inventory: Inventory, host: Host, firewall: Firewall): readonly Opening[] =>
  needed(inventory, host, firewall).filter((need) => !firewall.allowed.some((rule) => covers(rule, need)));

/** The openings that kbuild adds to the firewall: those that the host needs and no unmanaged rule allows. */
export const desiredOpenings = (inventory: Inventory, host: Host, firewall: Firewall): readonly Opening[] =>
  needed(inventory, host, firewall).filter(
    (need) => !firewall.allowed.some((rule) => !rule.ours && covers(rule, need)),
  );

/** Openings as text for a message: their ports, or the pod network. */
export function openingsText(all: readonly Opening[]): string {
  const words = all.map(({ hook, ports, protocol }) => {
    if (hook === 'forward') return 'packets of pods';
    return protocol === 'vrrp' ? 'VRRP' : `${String(ports[0])}/${protocol}`;
  });
  return [...new Set(words)].join(', ');
}
