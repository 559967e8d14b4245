import ipaddr from 'ipaddr.js';
import type { Inventory } from './inventory.ts';

/**
 * A CIDR of either family; ipaddr.js itself tries the wrong one first, at the price of an error. Throws on a bad CIDR.
 */
const parseCidr = (cidr: string): [ipaddr.IPv4 | ipaddr.IPv6, number] =>
  cidr.includes(':') ? ipaddr.IPv6.parseCIDR(cidr) : ipaddr.IPv4.parseCIDR(cidr);

/** The n-th address of a CIDR. Throws on a bad CIDR. */
export function nthAddress(cidr: string, n: number): string {
  const [network] = parseCidr(cidr);
  const bytes = network.toByteArray();
  let carry = n;
  for (let i = bytes.length - 1; i >= 0 && carry > 0; i--) {
    const sum = bytes[i]! + carry;
    bytes[i] = sum & 0xff;
    carry = sum >> 8;
  }
  return ipaddr.fromByteArray(bytes).toString();
}

/** True when two CIDRs of the same family share an address. */
export function overlap(a: string, b: string): boolean {
  const [one, oneBits] = parseCidr(a);
  const [two, twoBits] = parseCidr(b);
  if (one.kind() !== two.kind()) return false;
  return one.match(two, Math.min(oneBits, twoBits));
}

/** Service `kubernetes`: the first address of the first service subnet. */
export const firstServiceAddress = ({ network }: Inventory): string =>
  nthAddress(network.serviceSubnet.split(',')[0]!, 1);

/** Cluster DNS: the tenth address of the first service subnet (kubeadm's rule). */
export const dnsServiceAddress = ({ network }: Inventory): string =>
  nthAddress(network.serviceSubnet.split(',')[0]!, 10);
