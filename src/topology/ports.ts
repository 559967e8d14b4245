import { apiPort } from './api-server.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import { balancers } from './select.ts';

/** Who connects to a port. `itself`: it listens on the loopback interface, or only the host uses it. */
export type Client = 'everybody' | 'control-planes' | 'nodes' | 'itself';

/** A port that a host of a role listens at once the cluster stands. */
export interface ListeningPort {
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  /** The program, as `ss` names it. */
  readonly program: string;
  readonly from: Client;
}

const tcp = (port: number, program: string, from: Client): ListeningPort => ({ port, protocol: 'tcp', program, from });

/** On every Kubernetes node: the kubelet and kube-proxy (health for load balancers, and metrics). */
const NODE: readonly ListeningPort[] = [
  tcp(10250, 'kubelet', 'control-planes'),
  tcp(10248, 'kubelet', 'itself'),
  tcp(10256, 'kube-proxy', 'everybody'),
  tcp(10249, 'kube-proxy', 'itself'),
];

const ETCD: readonly ListeningPort[] = [
  tcp(2379, 'etcd', 'control-planes'),
  tcp(2380, 'etcd', 'control-planes'),
  tcp(2381, 'etcd', 'itself'),
];

/** Calico on Linux (docs.tigera.io, "System requirements"): Typha is on some of the nodes, and who asks it on all of them. */
const CALICO: readonly ListeningPort[] = [
  tcp(5473, 'calico-typha', 'nodes'),
  tcp(9098, 'calico-typha', 'itself'),
  tcp(9099, 'calico-node', 'itself'),
];

/** UDP port of VXLAN on Windows, which knows no other; Calico's default everywhere. */
export const WINDOWS_VXLAN_PORT = 4789;

/** True where packets between hosts go through VXLAN. */
export const usesVxlan = ({ network: { plugin, flannel } }: Inventory): boolean =>
  plugin === 'calico' || (plugin === 'flannel' && flannel.backend === 'vxlan');

function ofPlugin(inventory: Inventory, { os }: Host): readonly ListeningPort[] {
  const { plugin, flannel } = inventory.network;
  if (!usesVxlan(inventory)) return [];
  const tunnel = { protocol: 'udp', from: 'nodes' } as const;
  return plugin === 'flannel'
    ? [{ ...tunnel, port: flannel.port, program: 'flannel' }]
    : [{ ...tunnel, port: WINDOWS_VXLAN_PORT, program: 'calico' }, ...(os === 'linux' ? CALICO : [])];
}

/**
 * Ports that a host listens at (kubernetes.io, "Ports and Protocols", and kubeadm's constants.go), with those of the
 * network plugin. Service ports of type NodePort are no listeners: see `NODE_PORTS`.
 */
export function listeningPorts(inventory: Inventory, host: Host): readonly ListeningPort[] {
  const network = ofPlugin(inventory, host);
  const { loadBalancer } = inventory;
  const balancer: readonly ListeningPort[] =
    loadBalancer.kind === 'keepalived' && balancers(inventory).some(({ name }) => name === host.name)
      ? [tcp(loadBalancer.port, 'haproxy', 'everybody'), tcp(loadBalancer.healthPort, 'haproxy', 'itself')]
      : [];
  switch (host.role) {
    case 'control-plane':
      return [
        tcp(apiPort(inventory), 'kube-apiserver', 'everybody'),
        tcp(10257, 'kube-controller-manager', 'itself'),
        tcp(10259, 'kube-scheduler', 'itself'),
        ...(inventory.etcd.topology === 'stacked' ? ETCD : []),
        ...NODE,
        ...network,
        ...balancer,
      ];
    case 'worker':
      return [...NODE, ...network];
    case 'etcd':
      return [...ETCD, tcp(10250, 'kubelet', 'itself'), tcp(10248, 'kubelet', 'itself')];
    case 'load-balancer':
      return balancer;
  }
}

/** TCP and UDP ports of Services of type NodePort, first and last: kube-apiserver's default range. */
export const NODE_PORTS = { first: 30_000, last: 32_767 } as const;
