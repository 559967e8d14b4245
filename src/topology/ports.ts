import { networkPlugin } from '../components/network-plugins/index.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import type { Client, ListeningPort } from '../model/listening-port.ts';
import { apiPort } from './api-server.ts';
import { balancers } from './select.ts';

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

/**
 * Ports that a host listens at (kubernetes.io, "Ports and Protocols", and kubeadm's constants.go), with those of the
 * network plugin. Service ports of type NodePort are no listeners: see `NODE_PORTS`.
 */
export function listeningPorts(inventory: Inventory, host: Host): readonly ListeningPort[] {
  const network = networkPlugin(inventory).ports(inventory, host);
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
