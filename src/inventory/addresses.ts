import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Host, Inventory } from './inventory.ts';

/**
 * As `isIP` of node:net: 4 or 6 for an address, 0 for other text. That one tries its pattern of IPv6 on names too,
 * which V8 must prepare first: 5 ms of CPU (Node 20).
 */
export const isIP = (text: string): 0 | 4 | 6 => {
  if (text.includes(':')) return isIPv6(text) ? 6 : 0;
  return isIPv4(text) ? 4 : 0;
};

/** A family of addresses. */
export type Family = 'IPv4' | 'IPv6';

/** The family of an address or a network; of a list of two, that of the first. */
export const familyOf = (text: string): Family => (text.split(',')[0]!.includes(':') ? 'IPv6' : 'IPv4');

/** The parts of a value with one or two families, as Kubernetes writes it: `10.244.0.0/16,fd00:10:244::/56`. */
export const eachOf = (list: string): readonly string[] => list.split(',');

/** The families of a value, the primary one first. */
export const familiesIn = (list: string): readonly Family[] => eachOf(list).map(familyOf);

/** The families of the cluster's pods, Services and nodes, the primary one first. */
export const familiesOf = ({ network }: { readonly network: { readonly podSubnet: string } }): readonly Family[] =>
  familiesIn(network.podSubnet);

/** True if some addresses of the cluster are of IPv6. */
export const hasIpv6 = (inventory: Parameters<typeof familiesOf>[0]): boolean => familiesOf(inventory).includes('IPv6');

/** The addresses at which Kubernetes listens on a host, that of the primary family first. */
export const addressesOf = ({
  internalAddress,
  secondAddress,
}: Pick<Host, 'internalAddress' | 'secondAddress'>): readonly string[] =>
  secondAddress === undefined ? [internalAddress] : [internalAddress, secondAddress];

/** The address of this computer on its loopback interface, of the family of an address. */
export const loopbackOf = (address: string): string => (familyOf(address) === 'IPv6' ? '::1' : '127.0.0.1');

/** A host of a URL: an IPv6 address in brackets. */
export const bracketed = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

/** `host:port`, an IPv6 address in brackets. */
export const hostPort = (host: string, port: number | string): string => `${bracketed(host)}:${String(port)}`;

/**
 * Host and port of `host`, `host:port`, `[address]` or `[address]:port`; the host without brackets. undefined for other
 * text, e.g. an IPv6 address without brackets.
 */
export function endpointParts(endpoint: string): { readonly host: string; readonly port?: number } | undefined {
  const [, inBrackets, bare, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d+))?$/.exec(endpoint) ?? [];
  if (inBrackets === undefined && bare === undefined) return undefined;
  if (inBrackets !== undefined && isIP(inBrackets) !== 6) return undefined;
  return { host: inBrackets ?? bare!, ...(port === undefined ? {} : { port: Number(port) }) };
}

/** The host of an endpoint `host:port`, without the brackets of IPv6. */
export const endpointHost = (endpoint: string): string => endpointParts(endpoint)?.host ?? '';

/** A network of one address, unless the text is a network already. */
export const asCidr = (text: string): string =>
  text.includes('/') ? text : `${text}/${familyOf(text) === 'IPv6' ? '128' : '32'}`;

/** Bits of the mask of a CIDR. */
export const bitsOf = (cidr: string): number => Number(cidr.slice(cidr.indexOf('/') + 1));

/** Bits of an address of a family. */
export const widthOf = (family: Family): number => (family === 'IPv6' ? 128 : 32);

/**
 * A CIDR of either family; ipaddr.js itself tries the wrong one first, at the price of an error. Throws on a bad CIDR.
 */
const parseCidr = (cidr: string): [ipaddr.IPv4 | ipaddr.IPv6, number] =>
  cidr.includes(':') ? ipaddr.IPv6.parseCIDR(cidr) : ipaddr.IPv4.parseCIDR(cidr);

/** An address in the one way that kbuild writes it: OpenSSL shows `FD00:0:0:0:0:0:0:1`. Other text stays as it is. */
export const canonical = (text: string): string => (isIP(text) === 6 ? ipaddr.IPv6.parse(text).toString() : text);

/** Why a text is no address that an inventory may hold; undefined if it is one. IPv6 has one way to write it, RFC 5952. */
export function addressProblem(value: string): string | undefined {
  if (isIP(value) === 0 || value.includes('%')) return 'must be an IP address, e.g. "10.0.0.11" or "fd00::11"';
  const written = canonical(value);
  return written === value ? undefined : `must be written as programs show it: ${written}`;
}

/** Why a text is no network without host bits; undefined if it is one. */
export function cidrProblem(value: string): string | undefined {
  const [network = '', bits = '', ...rest] = value.split('/');
  const width = isIP(network) === 6 ? 128 : 32;
  const isNetwork = isIP(network) !== 0 && !network.includes('%') && /^(?:0|[1-9]\d{0,2})$/.test(bits);
  if (!isNetwork || Number(bits) > width || rest.length > 0)
    return 'must be a network, e.g. "10.244.0.0/16" or "fd00:10:244::/56"';
  const kind = width === 128 ? ipaddr.IPv6 : ipaddr.IPv4;
  const first = kind.networkAddressFromCIDR(value).toString();
  if (first === network) return undefined;
  if (kind.parse(network).toString() === first) return `must be written as programs show it: ${first}/${bits}`;
  // Networks that are larger than Services may have were often meant to be smaller ones.
  const whole = `${first}/${bits}`;
  const isSmaller =
    width === 32 && Number(bits) < 12 && kind.networkAddressFromCIDR(`${network}/12`).toString() === network;
  return `has bits beyond its mask; write ${isSmaller ? `${network}/12, or ${whole} for all of it` : whole}`;
}

/** The problem of a value with one or two families; `of` judges each part. */
export function listProblem(value: string, of: (part: string) => string | undefined): string | undefined {
  const parts = eachOf(value);
  const problem = parts.map(of).find((one) => one !== undefined);
  if (problem !== undefined) return problem;
  if (parts.length === 1 || (parts.length === 2 && new Set(parts.map(familyOf)).size === 2)) return undefined;
  return 'must be one, or one of each family with a comma between them and the primary family first';
}

/** The lowest byte of an address. */
export const lastByte = (address: string): number => ipaddr.parse(address).toByteArray().at(-1)!;

/** The n-th address of a CIDR. Throws on a bad CIDR. */
export function nthAddress(cidr: string, n: number): string {
  const bytes = parseCidr(cidr)[0].toByteArray();
  const sum = numberOf(parseCidr(cidr)[0]) + BigInt(n);
  return ipaddr
    .fromByteArray(bytes.map((_, i) => Number((sum >> BigInt(8 * (bytes.length - 1 - i))) & 255n)))
    .toString();
}

/** True when two CIDRs of the same family share an address. */
export function overlap(a: string, b: string): boolean {
  if (familyOf(a) !== familyOf(b)) return false;
  const [one, oneBits] = parseCidr(a);
  const [two, twoBits] = parseCidr(b);
  return one.match(two, Math.min(oneBits, twoBits));
}

const numberOf = (address: ipaddr.IPv4 | ipaddr.IPv6): bigint =>
  address.toByteArray().reduce((number, byte) => number * 256n + BigInt(byte), 0n);

/** First and last address of a network, of `first-last` or of an address, as numbers; undefined for other text. */
export function rangeOf(text: string): readonly [first: bigint, last: bigint] | undefined {
  if (text.includes('/')) {
    if (cidrProblem(text) !== undefined) return undefined;
    const first = numberOf(parseCidr(text)[0]);
    return [first, first + (1n << BigInt(widthOf(familyOf(text)) - bitsOf(text))) - 1n];
  }
  const [first = '', last = first, ...rest] = text.split('-');
  const sound = [first, last].every((one) => addressProblem(one) === undefined) && isIP(first) === isIP(last);
  if (!sound || rest.length > 0) return undefined;
  const [from, to] = [numberOf(ipaddr.parse(first)), numberOf(ipaddr.parse(last))];
  return from <= to ? [from, to] : undefined;
}

/** True if two networks, ranges or addresses of the same family share an address. False for texts that are neither. */
export function shareAddress(a: string, b: string): boolean {
  const [one, two] = [rangeOf(a), rangeOf(b)];
  if (one === undefined || two === undefined || familyOf(a) !== familyOf(b)) return false;
  return one[0] <= two[1] && two[0] <= one[1];
}

/** True if a network or an address lies in a network. False for texts that are neither. */
export function isWithin(inner: string, outer: string): boolean {
  const [a, b] = [asCidr(inner), asCidr(outer)];
  return ipaddr.isValidCIDR(a) && ipaddr.isValidCIDR(b) && bitsOf(a) >= bitsOf(b) && overlap(a, b);
}

/** True if machines of the internet have addresses of a network. IPv6 has no need of private ones. */
export const isPublic = (cidr: string): boolean =>
  familyOf(cidr) === 'IPv4' && ipaddr.IPv4.parseCIDR(cidr)[0].range() === 'unicast';

/** True if no host can be reached at an address from another one: unspecified, loopback, link-local, multicast. */
export function isUnreachable(address: string): boolean {
  if (familyOf(address) === 'IPv4') {
    const first = ipaddr.IPv4.parse(address).toByteArray()[0]!;
    return first === 0 || first === 127 || first >= 224;
  }
  return ['unspecified', 'loopback', 'multicast', 'linkLocal', 'ipv4Mapped'].includes(
    ipaddr.IPv6.parse(address).range(),
  );
}

/** Service `kubernetes`: the first address of the first service subnet. */
export const firstServiceAddress = ({ network }: Inventory): string => nthAddress(eachOf(network.serviceSubnet)[0]!, 1);

/** Cluster DNS: the tenth address of the first service subnet (kubeadm's rule). */
export const dnsServiceAddress = ({ network }: Inventory): string => nthAddress(eachOf(network.serviceSubnet)[0]!, 10);
