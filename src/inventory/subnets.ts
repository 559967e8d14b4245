import ipaddr from 'ipaddr.js';
import type { Inventory } from './inventory.ts';

/** The n-th address of a CIDR. Throws on a bad CIDR. */
export function nthAddress(cidr: string, n: number): string {
  const [network] = ipaddr.parseCIDR(cidr);
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
  const [one, oneBits] = ipaddr.parseCIDR(a);
  const [two, twoBits] = ipaddr.parseCIDR(b);
  if (one.kind() !== two.kind()) return false;
  return one.match(two, Math.min(oneBits, twoBits));
}

/** Service `kubernetes`: the first address of the first service subnet. */
export const firstServiceAddress = ({ network }: Inventory): string =>
  nthAddress(network.serviceSubnet.split(',')[0]!, 1);

/** Cluster DNS: the tenth address of the first service subnet (kubeadm's rule). */
export const dnsServiceAddress = ({ network }: Inventory): string =>
  nthAddress(network.serviceSubnet.split(',')[0]!, 10);
