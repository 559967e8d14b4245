import { addressesOf, eachOf } from '../inventory/addresses.ts';
import { apiPort } from '../inventory/api-server.ts';
import { balancers } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { type Client, hasKubeProxy, type ListeningPort } from '../inventory/network-plugins.ts';
import { servicePorts } from '../network/load-balancers.value.ts';
import { networkPlugin } from '../network/plugins.value.ts';

const tcp = (port: number, program: string, from: Client): ListeningPort => ({ port, protocol: 'tcp', program, from });

/** On every Kubernetes node: the kubelet and kube-proxy (health for load balancers, and metrics). */
const nodePorts = (inventory: Inventory): readonly ListeningPort[] => [
  tcp(10250, 'kubelet', 'control-planes'),
  tcp(10248, 'kubelet', 'itself'),
  ...(hasKubeProxy(inventory) ? [tcp(10256, 'kube-proxy', 'everybody'), tcp(10249, 'kube-proxy', 'itself')] : []),
];

const ETCD: readonly ListeningPort[] = [
  tcp(2379, 'etcd', 'control-planes'),
  tcp(2380, 'etcd', 'control-planes'),
  tcp(2381, 'etcd', 'itself'),
];

/**
 * Ports that a host listens at (kubernetes.io, "Ports and Protocols", and kubeadm's constants.go), with those of the
 * network plugin. Service ports of type NodePort are no listeners: see `NODE_PORTS`.
 */
export function listeningPorts(inventory: Inventory, host: Host): readonly ListeningPort[] {
  const network = [...networkPlugin(inventory).ports(inventory, host), ...servicePorts(inventory, host)];
  const { loadBalancer } = inventory;
  const balancer: readonly ListeningPort[] =
    loadBalancer.kind === 'keepalived' && balancers(inventory).some(({ name }) => name === host.name)
      ? [tcp(loadBalancer.port, 'haproxy', 'everybody'), tcp(loadBalancer.healthPort, 'haproxy', 'itself')]
      : loadBalancer.kind === 'local'
        ? [tcp(loadBalancer.port, 'haproxy', 'itself')]
        : [];
  switch (host.role) {
    case 'control-plane':
      return [
        tcp(apiPort(inventory), 'kube-apiserver', 'everybody'),
        tcp(10257, 'kube-controller-manager', 'itself'),
        tcp(10259, 'kube-scheduler', 'itself'),
        ...(inventory.etcd.topology === 'stacked' ? ETCD : []),
        ...nodePorts(inventory),
        ...network,
        ...balancer,
      ];
    case 'worker':
      return [...nodePorts(inventory), ...network, ...balancer];
    case 'etcd':
      return [...ETCD, tcp(10250, 'kubelet', 'itself'), tcp(10248, 'kubelet', 'itself')];
    case 'load-balancer':
      return balancer;
  }
}

/** TCP and UDP ports of Services of type NodePort, first and last: kube-apiserver's default range. */
export const NODE_PORTS = { first: 30_000, last: 32_767 } as const;

/** The other hosts that connect to a port of a host. */
export function clientsOf({ hosts }: Inventory, host: Host, client: Client): readonly Host[] {
  const others = hosts.filter(({ name }) => name !== host.name);
  switch (client) {
    case 'everybody':
      return others;
    case 'control-planes':
      return others.filter(({ role }) => role === 'control-plane' || (role === 'etcd' && host.role === 'etcd'));
    case 'nodes':
      return others.filter(({ role }) => role === 'control-plane' || role === 'worker');
    case 'itself':
      return [];
  }
}

/** Packets that a filter lets in (`input`) or through (`forward`). Addresses are CIDRs, single ones, or `any`. */
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
 * The ports of a host that other hosts and pods use: those of its role, and VRRP between load balancers. On a node also
 * the API server and the kubelet for pods, whose packets to their own host keep the pod's address, and forwarding of
 * packets of pods.
 */
export function openings(inventory: Inventory, host: Host): readonly Opening[] {
  const input = { hook: 'input', to: 'any' } as const;
  const pods = eachOf(inventory.network.podSubnet);
  const fromHosts = listeningPorts(inventory, host).flatMap(({ port, protocol, from }) =>
    clientsOf(inventory, host, from)
      .flatMap(addressesOf)
      .map((address): Opening => ({ ...input, protocol, ports: [port, port], from: address })),
  );
  const all = inventory.loadBalancer.kind === 'keepalived' ? balancers(inventory) : [];
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
    ...pods.flatMap((subnet): readonly Opening[] => [
      ...podPorts.map((port): Opening => ({ ...input, protocol: 'tcp', ports: [port, port], from: subnet })),
      { ...forward, from: subnet, to: 'any' },
      { ...forward, from: 'any', to: subnet },
    ]),
  ];
}
