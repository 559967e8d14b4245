import type { Route } from '../host/network.facts.ts';
import {
  asCidr,
  bitsOf,
  type Family,
  familyOf,
  isIP,
  isUnreachable,
  overlap,
  widthOf,
} from '../inventory/addresses.ts';
import { isPluginInterface } from '../network/plugins.value.ts';

/** An address of a host, and the network that it is in. */
interface Link {
  readonly device: string;
  readonly address: string;
  /** CIDR; of one address where the host has no route to others there. */
  readonly network: string;
  /** The default route leads through it. */
  readonly isDefault?: true;
}

/** What `kbuild init` has observed of a host. */
export interface Discovered {
  /** The host's name in the new inventory. */
  readonly name: string;
  /** Where SSH connected, as ~/.ssh/config gives it. */
  readonly address: string;
  /** E.g. `Debian GNU/Linux 12 (bookworm), x86_64`. */
  readonly system: string;
  readonly links: readonly Link[];
  /** Networks (CIDR) that the host reaches without its default route. */
  readonly routes: readonly string[];
}

/** What a cluster or a container runtime made: the new cluster replaces it, and no other host is there. */
const OF_CONTAINERS = /^(?:lo$|docker|br-|cni|veth|virbr|kube-|tunl|podman)/;
const isOfContainers = (device: string): boolean => OF_CONTAINERS.test(device) || isPluginInterface(device);

/** True for the default route of a family. */
const isDefaultOf = (family: Family, destination: string): boolean =>
  destination === (family === 'IPv6' ? '::/0' : 'default');

/** Networks of routes in which hosts may be: neither the default route, nor those of a container runtime. */
const networksOf = (table: readonly Route[]): readonly Route[] =>
  table
    .filter(({ destination, device }) => {
      const [network = ''] = destination.split('/');
      return isIP(network) !== 0 && destination !== '::/0' && !isUnreachable(network) && !isOfContainers(device);
    })
    .map((route) => ({ ...route, destination: asCidr(route.destination) }));

interface Interface {
  readonly name: string;
  readonly addresses: readonly string[];
  /** IPv6 addresses that the host does not keep, or does not have yet. */
  readonly unsteady?: Readonly<Record<string, string>>;
  readonly isDown?: true;
}

/** Addresses at which other hosts reach an interface for good. */
const keptBy = ({ addresses, unsteady = {} }: Interface): readonly string[] =>
  addresses.filter((address) => !isUnreachable(address) && !Object.hasOwn(unsteady, address));

/**
 * The links and routes of a host, from the facts `interfaces` and `routes`: of each family the link of the default
 * route first, and none of an interface without carrier.
 */
export function linksOf(
  interfaces: readonly Interface[],
  table: readonly Route[],
): Pick<Discovered, 'links' | 'routes'> {
  const networks = networksOf(table);
  const isDefault = (device: string, address: string): boolean =>
    table.find(({ destination }) => isDefaultOf(familyOf(address), destination))?.device === device;
  /** The narrowest one; IPv6 has a route of its own for an address that was leased. */
  const networkOf = (device: string, address: string): string =>
    networks
      .filter((route) => route.device === device && overlap(route.destination, asCidr(address)))
      .map(({ destination }) => destination)
      .filter((destination) => bitsOf(destination) < widthOf(familyOf(address)))
      .toSorted((a, b) => bitsOf(b) - bitsOf(a))[0] ?? asCidr(address);
  const links = interfaces
    .filter(({ name, isDown }) => !isOfContainers(name) && isDown !== true)
    .flatMap((one) =>
      keptBy(one).map((address): Link => {
        const link = { device: one.name, address, network: networkOf(one.name, address) };
        return isDefault(one.name, address) ? { ...link, isDefault: true } : link;
      }),
    )
    .toSorted((a, b) => Number(b.isDefault ?? false) - Number(a.isDefault ?? false));
  return { links, routes: [...new Set(networks.map(({ destination }) => destination))] };
}

/** RFC 1918 and RFC 6598; RFC 4193. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
const isPrivate = (network: string): boolean => PRIVATE.some((other) => overlap(other, network));

/** The links of a family. */
const linksIn = ({ links }: Discovered, family: Family): readonly Link[] =>
  links.filter(({ address }) => familyOf(address) === family);

/**
 * Networks of a family in which every one of these hosts has an address, the one to propose first: a private one before
 * a public one, then the one of the default route, and then the one through which SSH reached most of them.
 */
export function sharedNetworks(hosts: readonly Discovered[], family: Family): readonly string[] {
  const [first, ...others] = hosts;
  const all = first === undefined ? [] : linksIn(first, family);
  const shared = [...new Set(all.map(({ network }) => network))].filter((network) =>
    others.every(({ links }) => links.some((link) => link.network === network)),
  );
  const reached = (network: string): number =>
    hosts.filter(({ address, links }) => links.some((link) => link.network === network && link.address === address))
      .length;
  const isOfDefault = (network: string): boolean =>
    hosts.every(({ links }) => links.some((link) => link.network === network && link.isDefault === true));
  const rank = (network: string): number =>
    (isPrivate(network) ? 4 : 0) + (isOfDefault(network) ? 2 : 0) + reached(network) / hosts.length;
  return shared.toSorted((a, b) => rank(b) - rank(a));
}

/**
 * The link of a host that carries the cluster in a family: the one in `network`; else the one at which SSH reached the
 * host; else a private one, or the first. undefined for a host without an address of that family.
 */
export function clusterLink(host: Discovered, network: string | undefined, family: Family): Link | undefined {
  const links = linksIn(host, family);
  return (
    links.find((link) => link.network === network) ??
    links.find((link) => link.address === host.address) ??
    links.find((link) => isPrivate(link.network)) ??
    links[0]
  );
}

/** kbuild's defaults. */
export const DEFAULT_SUBNETS = { podSubnet: '10.244.0.0/16', serviceSubnet: '10.96.0.0/12' } as const;

/** Networks of pods and of Services in the order in which they are proposed. No pair overlaps. */
const PROPOSED: Readonly<Record<Family, readonly (readonly [pods: string, services: string])[]>> = {
  IPv4: [
    [DEFAULT_SUBNETS.podSubnet, DEFAULT_SUBNETS.serviceSubnet],
    ['172.20.0.0/16', '172.21.0.0/16'],
    ['192.168.0.0/17', '192.168.128.0/17'],
    ['10.200.0.0/16', '10.201.0.0/16'],
    ['100.64.0.0/16', '100.65.0.0/16'],
  ],
  // A node gets a /64 of the pods' network. Services may have at most 2^20 addresses.
  IPv6: [
    ['fd00:10:244::/56', 'fd00:10:96::/112'],
    ['fd00:172:20::/56', 'fd00:172:21::/112'],
    ['fdb7:10:244::/56', 'fdb7:10:96::/112'],
  ],
};

/**
 * Subnets of these families that overlap with none of these networks, only those that are not the defaults.
 * `undefined`: no candidate is free.
 */
export function freeSubnets(
  used: readonly string[],
  families: readonly Family[],
): { readonly podSubnet?: string; readonly serviceSubnet?: string } | undefined {
  const isFree = (cidr: string): boolean => !used.some((network) => overlap(network, cidr));
  const chosen = (i: 0 | 1): string | undefined => {
    const free = families.map((family) => PROPOSED[family].map((pair) => pair[i]).find(isFree));
    return free.includes(undefined) ? undefined : free.join(',');
  };
  const [podSubnet, serviceSubnet] = [chosen(0), chosen(1)];
  if (podSubnet === undefined || serviceSubnet === undefined) return undefined;
  return {
    ...(podSubnet === DEFAULT_SUBNETS.podSubnet ? {} : { podSubnet }),
    ...(serviceSubnet === DEFAULT_SUBNETS.serviceSubnet ? {} : { serviceSubnet }),
  };
}
