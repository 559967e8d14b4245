import { isIPv4 } from 'node:net';
import type { Route } from '../host/network.facts.ts';
import { overlap } from '../inventory/addresses.ts';
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

const asCidr = (destination: string): string => (destination.includes('/') ? destination : `${destination}/32`);

/** Networks of routes in which hosts may be: neither the default route, nor those of a container runtime. */
const networksOf = (table: readonly Route[]): readonly Route[] =>
  table
    .filter(({ destination, device }) => isIPv4(destination.split('/')[0]!) && !isOfContainers(device))
    .map((route) => ({ ...route, destination: asCidr(route.destination) }));

/**
 * The links and routes of a host, from the facts `interfaces` and `routes`: the link of the default route first, and
 * none of an interface without carrier.
 */
export function linksOf(
  interfaces: readonly { readonly name: string; readonly addresses: readonly string[]; readonly isDown?: true }[],
  table: readonly Route[],
): Pick<Discovered, 'links' | 'routes'> {
  const networks = networksOf(table);
  const isDefault = (device: string): boolean =>
    table.find(({ destination }) => destination === 'default')?.device === device;
  const links = interfaces
    .filter(({ name, isDown }) => !isOfContainers(name) && isDown !== true)
    .toSorted((a, b) => Number(isDefault(b.name)) - Number(isDefault(a.name)))
    .flatMap(({ name: device, addresses }) =>
      addresses.filter(isIPv4).map((address) => {
        const own = networks.find((route) => route.device === device && overlap(route.destination, `${address}/32`));
        const network = own?.destination ?? `${address}/32`;
        return { device, address, network, ...(isDefault(device) ? { isDefault: true as const } : {}) };
      }),
    );
  return { links, routes: [...new Set(networks.map(({ destination }) => destination))] };
}

/** RFC 1918 and RFC 6598. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];
const isPrivate = (network: string): boolean => PRIVATE.some((other) => overlap(other, network));

/**
 * Networks in which every one of these hosts has an address, the one to propose first: a private one before a public
 * one, then the one of the default route, and then the one through which SSH reached most of them.
 */
export function sharedNetworks(hosts: readonly Discovered[]): readonly string[] {
  const [first, ...others] = hosts;
  const shared = [...new Set((first?.links ?? []).map(({ network }) => network))].filter((network) =>
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
 * The link of a host that carries the cluster: the one in `network`; else the one at which SSH reached the host; else a
 * private one, or the first. undefined for a host without an IPv4 address.
 */
export const clusterLink = ({ address, links }: Discovered, network: string | undefined): Link | undefined =>
  links.find((link) => link.network === network) ??
  links.find((link) => link.address === address) ??
  links.find((link) => isPrivate(link.network)) ??
  links[0];

/** kbuild's defaults. */
export const DEFAULT_SUBNETS = { podSubnet: '10.244.0.0/16', serviceSubnet: '10.96.0.0/12' } as const;

/** In the order in which they are proposed. No pair overlaps. */
const PODS = [DEFAULT_SUBNETS.podSubnet, '172.20.0.0/16', '192.168.0.0/17', '10.200.0.0/16', '100.64.0.0/16'];
const SERVICES = [DEFAULT_SUBNETS.serviceSubnet, '172.21.0.0/16', '192.168.128.0/17', '10.201.0.0/16', '100.65.0.0/16'];

/**
 * Subnets that overlap with none of these networks, only those that are not the defaults. `undefined`: no candidate is
 * free.
 */
export function freeSubnets(
  used: readonly string[],
): { readonly podSubnet?: string; readonly serviceSubnet?: string } | undefined {
  const isFree = (cidr: string): boolean => !used.some((network) => overlap(network, cidr));
  const podSubnet = PODS.find(isFree);
  const serviceSubnet = SERVICES.find(isFree);
  if (podSubnet === undefined || serviceSubnet === undefined) return undefined;
  return {
    ...(podSubnet === DEFAULT_SUBNETS.podSubnet ? {} : { podSubnet }),
    ...(serviceSubnet === DEFAULT_SUBNETS.serviceSubnet ? {} : { serviceSubnet }),
  };
}
