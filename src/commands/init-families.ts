import { UsageError } from '../errors.ts';
import { type Family, familyOf, isIP, isUnreachable } from '../inventory/addresses.ts';
import type { Discovered } from './init-networks.ts';
import type { Answers, SkeletonHost } from './init-skeleton.ts';

/** What an operator may choose, the primary family first. */
const CHOICES: Readonly<Record<string, readonly Family[]>> = {
  ipv4: ['IPv4'],
  ipv6: ['IPv6'],
  'ipv4,ipv6': ['IPv4', 'IPv6'],
  'ipv6,ipv4': ['IPv6', 'IPv4'],
};

/** How families are written, for questions and remedies. */
export const FAMILIES_FORM = 'ipv4, ipv6, or both as ipv4,ipv6';

/** Reads families as `FAMILIES_FORM` shows them. @throws UsageError */
export function parseFamilies(text: string): readonly Family[] {
  const found = CHOICES[text.toLowerCase().replaceAll(' ', '')];
  if (found === undefined) throw new UsageError(`"${text}" are no families of addresses`, { remedy: FAMILIES_FORM });
  return found;
}

/** The families of a cluster, the primary one first. */
export const familiesFor = ({ families = ['IPv4'] }: Pick<Answers, 'families'>): readonly Family[] => families;

/** Families of which each of these hosts has an address that it keeps. */
export const sharedFamilies = (hosts: readonly Discovered[]): readonly Family[] =>
  (['IPv4', 'IPv6'] as const).filter((family) =>
    hosts.every(({ links }) => links.some(({ address }) => familyOf(address) === family)),
  );

/** The families to propose: IPv4, but for hosts that have none. */
export function proposedFamilies(hosts: readonly Discovered[]): readonly Family[] {
  const shared = sharedFamilies(hosts);
  return shared.includes('IPv4') || !shared.includes('IPv6') ? ['IPv4'] : ['IPv6'];
}

/** True if the addresses of a host in the cluster are known without a connection to it. */
export const isAddressed = ({ address, internalAddress }: SkeletonHost, families: readonly Family[]): boolean =>
  internalAddress !== undefined || (families.length === 1 && isIP(address) !== 0 && familyOf(address) === families[0]);

/** Of networks for benchmarks (RFC 2544, RFC 5180), which no host has. */
export const placeholder = (family: Family, i: number): string =>
  family === 'IPv4'
    ? `198.18.${String(Math.floor(i / 200))}.${String((i % 200) + 1)}`
    : `2001:2::${(i + 1).toString(16)}`;

/** Addresses of both families for the i-th host, where one is not known a placeholder. */
export function addressesSoFar({ address, internalAddress = address }: SkeletonHost, i: number): string {
  // The answers as a whole are refused for an address that other hosts cannot reach, at the place where it was given.
  const known = internalAddress.split(',').filter((one) => isIP(one) !== 0 && !isUnreachable(one));
  return (['IPv4', 'IPv6'] as const)
    .map((family) => known.find((one) => familyOf(one) === family) ?? placeholder(family, i))
    .join(',');
}
