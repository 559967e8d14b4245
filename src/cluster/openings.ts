import ipaddr from 'ipaddr.js';
import type { Firewall } from '../facts/linux/firewall-rules.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import { openings, type Opening } from '../topology/openings.ts';

const network = (text: string) => ipaddr.parseCIDR(text.includes('/') ? text : `${text}/32`);

/** True when all addresses of one are addresses of the other. */
function within(one: string, other: string): boolean {
  if (other === 'any' || other === '0.0.0.0/0') return true;
  if (one === 'any' || !ipaddr.IPv4.isValidCIDR(other.includes('/') ? other : `${other}/32`)) return false;
  const [address, bits] = network(one);
  const [around, aroundBits] = network(other);
  return bits >= aroundBits && address.kind() === around.kind() && address.match(around, aroundBits);
}

const covers = (rule: Opening, need: Opening): boolean =>
  (rule.protocol === 'any' || rule.protocol === need.protocol) &&
  rule.ports[0] <= need.ports[0] &&
  rule.ports[1] >= need.ports[1] &&
  within(need.from, rule.from) &&
  within(need.to, rule.to);

const needed = (inventory: Inventory, host: Host, firewall: Firewall): readonly Opening[] =>
  openings(inventory, host).filter(({ hook }) => hook === firewall.hook);

/** What is needed of a host and its firewall keeps from somebody. */
export const closedOpenings = (inventory: Inventory, host: Host, firewall: Firewall): readonly Opening[] =>
  needed(inventory, host, firewall).filter((need) => !firewall.allowed.some((rule) => covers(rule, need)));

/** What kbuild opens: what is needed and nobody else's rule lets in. */
export const wantedOpenings = (inventory: Inventory, host: Host, firewall: Firewall): readonly Opening[] =>
  needed(inventory, host, firewall).filter(
    (need) => !firewall.allowed.some((rule) => !rule.ours && covers(rule, need)),
  );

/** Openings for people: their ports, or that pods pass. */
export function openingsText(all: readonly Opening[]): string {
  const words = all.map(({ hook, ports, protocol }) => {
    if (hook === 'forward') return 'packets of pods';
    return protocol === 'vrrp' ? 'VRRP' : `${String(ports[0])}/${protocol}`;
  });
  return [...new Set(words)].join(', ');
}
