import ipaddr from 'ipaddr.js';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Firewall } from './firewalld.facts.ts';
import { type Opening, openings } from './openings.value.ts';

const network = (text: string) => ipaddr.parseCIDR(text.includes('/') ? text : `${text}/32`);

/** True if network `inner` lies within network `outer`. */
function within(inner: string, outer: string): boolean {
  if (outer === 'any' || outer === '0.0.0.0/0') return true;
  if (inner === 'any' || !ipaddr.IPv4.isValidCIDR(outer.includes('/') ? outer : `${outer}/32`)) return false;
  const [address, bits] = network(inner);
  const [outerAddress, outerBits] = network(outer);
  return bits >= outerBits && address.kind() === outerAddress.kind() && address.match(outerAddress, outerBits);
}

const covers = (rule: Opening, need: Opening): boolean =>
  (rule.protocol === 'any' || rule.protocol === need.protocol) &&
  rule.ports[0] <= need.ports[0] &&
  rule.ports[1] >= need.ports[1] &&
  within(need.from, rule.from) &&
  within(need.to, rule.to);

const needed = (inventory: Inventory, host: Host, firewall: Firewall): readonly Opening[] =>
  openings(inventory, host).filter(({ hook }) => hook === firewall.hook);

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
