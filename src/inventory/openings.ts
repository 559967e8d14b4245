import { apiPort } from './api-server.ts';
import { clientsOf } from './clients.ts';
import type { Host, Inventory } from './inventory.ts';
import { listeningPorts } from './ports.ts';

/** What a packet filter lets in (`input`) or through (`forward`). Addresses are CIDRs, single ones, or `any`. */
export interface Opening {
  readonly hook: 'input' | 'forward';
  readonly protocol: 'tcp' | 'udp' | 'any';
  /** First and last port. */
  readonly ports: readonly [first: number, last: number];
  readonly from: string;
  readonly to: string;
}

/** Every port. */
export const ALL_PORTS: Opening['ports'] = [0, 65_535];

const KUBELET = 10_250;

/**
 * What the other hosts and pods need of a host: its role's ports, and on a node the API server and the kubelet for pods,
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
  if (host.role !== 'control-plane' && host.role !== 'worker') return fromHosts;
  const podPorts = [...(host.role === 'control-plane' ? [apiPort(inventory)] : []), KUBELET];
  const forward = { hook: 'forward', protocol: 'any', ports: ALL_PORTS } as const;
  return [
    ...fromHosts,
    ...podPorts.map((port): Opening => ({ ...input, protocol: 'tcp', ports: [port, port], from: podSubnet })),
    { ...forward, from: podSubnet, to: 'any' },
    { ...forward, from: 'any', to: podSubnet },
  ];
}
