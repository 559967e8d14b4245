import { isIP } from 'node:net';
import type { Inventory } from '../../inventory/inventory.ts';
import { overlap } from '../../inventory/subnets.ts';

/** `host:port` to connect to, or why there is none. */
export type Place = { readonly target: string } | { readonly none: string };

/** What lies outside the cluster: packets to it leave with the address of their host. */
export interface Outside {
  readonly byAddress: Place;
  /** A name that the DNS of the cluster must forward. */
  readonly byName: Place;
}

const hostOf = (target: string): string => target.slice(0, target.lastIndexOf(':')).replaceAll(/^\[|\]$/g, '');
const portOf = (target: string): string => target.slice(target.lastIndexOf(':') + 1);

/** The server from which the nodes pull the test image: a name that some DNS of the site knows. */
export function defaultOutside({ network, runtime }: Pick<Inventory, 'network' | 'runtime'>): string {
  const registry = network.testImage.split('/')[0]!;
  const mirror = runtime.registries.find(({ host }) => host === registry)?.mirrors[0];
  const { hostname, port, protocol } = new URL(mirror ?? `https://${registry}`);
  return `${hostname}:${port === '' ? (protocol === 'http:' ? '80' : '443') : port}`;
}

/**
 * True for an address that pods reach without translation: one of pods, Services, or hosts. A connection there proves
 * nothing about the outside.
 */
function isInside(address: string, { network, hosts }: Pick<Inventory, 'network' | 'hosts'>): boolean {
  const subnets = [network.podSubnet, network.serviceSubnet].flatMap((list) => list.split(','));
  const single = `${address}/${address.includes(':') ? '128' : '32'}`;
  return (
    hosts.some((host) => [host.address, host.internalAddress].includes(address)) ||
    subnets.some((subnet) => overlap(subnet, single))
  );
}

/**
 * What the selftest connects to outside the cluster. `target`: `host:port`. `resolve`: IPv4 addresses of a name, as a
 * control plane sees them; empty if it knows none.
 */
export async function outsideOf(
  inventory: Pick<Inventory, 'network' | 'hosts'>,
  target: string,
  resolve: (name: string) => Promise<readonly string[]>,
): Promise<Outside> {
  const host = hostOf(target);
  const isName = isIP(host) === 0;
  const addresses = isName ? await resolve(host) : [host];
  const outer = addresses.find((address) => !isInside(address, inventory));
  const unknown = `no control plane resolves ${host}: name a server with --outside`;
  const inside = `${host} is inside the cluster, or a host of it: name a server with --outside`;
  const none = { none: addresses.length === 0 ? unknown : inside };
  return {
    byAddress:
      outer === undefined ? none : { target: `${outer.includes(':') ? `[${outer}]` : outer}:${portOf(target)}` },
    byName: isName
      ? addresses.length === 0
        ? none
        : { target }
      : { none: `${host} is an address: give --outside a name` },
  };
}
