import { apiPort } from './api-server.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import { clientsOf, listeningPorts } from './ports.ts';
import { balancers } from './select.ts';

/** What a packet filter lets in (`input`) or through (`forward`). Addresses are CIDRs, single ones, or `any`. */
export interface Opening {
  readonly hook: 'input' | 'forward';
  /** `vrrp`: IP protocol 112, by which load balancers agree on the holder of the virtual address. */
  readonly protocol: 'tcp' | 'udp' | 'vrrp' | 'any';
  /** First and last port; all of them where the protocol has none. */
  readonly ports: readonly [first: number, last: number];
  readonly from: string;
  readonly to: string;
}

/** Every port. */
export const ALL_PORTS: Opening['ports'] = [0, 65_535];

const KUBELET = 10_250;

/**
 * What the other hosts and pods need of a host: its role's ports, VRRP between balancers, and on a node the API server and the kubelet for pods,
 * whose packets to their own host keep their address, and the way through the host for pods.
 */
export function openings(inventory: Inventory, host: Host): readonly Opening[] {
  const input = { hook: 'input', to: 'any' } as const;
  const { podSubnet } = inventory.network;
  const fromHosts = listeningPorts(inventory, host).flatMap(({ port, protocol, from }) =>
    clientsOf(inventory, host, from).map(({ internalAddress }): Opening => ({
      ...input,
      protocol,
      ports: [port, port],
      from: internalAddress,
    })),
  );
  const all = balancers(inventory);
  const fromBalancers = (all.some(({ name }) => name === host.name) ? all : [])
    .filter(({ name }) => name !== host.name)
    .map(({ internalAddress }): Opening => ({
      ...input,
      protocol: 'vrrp',
      ports: ALL_PORTS,
      from: internalAddress,
    }));
  if (host.role !== 'control-plane' && host.role !== 'worker') return [...fromHosts, ...fromBalancers];
  const podPorts = [...(host.role === 'control-plane' ? [apiPort(inventory)] : []), KUBELET];
  const forward = { hook: 'forward', protocol: 'any', ports: ALL_PORTS } as const;
  return [
    ...fromHosts,
    ...fromBalancers,
    ...podPorts.map((port): Opening => ({ ...input, protocol: 'tcp', ports: [port, port], from: podSubnet })),
    { ...forward, from: podSubnet, to: 'any' },
    { ...forward, from: 'any', to: podSubnet },
  ];
}
