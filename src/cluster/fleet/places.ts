import { endpointHost, endpointParts, hostPort, loopbackOf } from '../../inventory/addresses.ts';
import { apiPort } from '../../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';

/** A server of the cluster, as its hosts reach it. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** Where a control plane's own API server listens. */
export const apiServerAt = (inventory: Inventory, host: LinuxHost): Place => ({
  host: host.internalAddress,
  port: apiPort(inventory),
});

/** The member of etcd on a control plane, where etcdctl finds it too (`withEtcd`). */
export const localEtcd = ({ internalAddress }: LinuxHost): string =>
  `https://${hostPort(loopbackOf(internalAddress), 2379)}`;

/** The member of etcd on a control plane, where kubeadm lets it tell the others that it is. */
export const advertisedEtcd = ({ internalAddress }: LinuxHost): string => `https://${hostPort(internalAddress, 2379)}`;

/** Where the cluster's endpoint is. */
export const endpointAt = ({ endpoint }: Inventory): Place => ({
  host: endpointHost(endpoint),
  port: endpointParts(endpoint)?.port ?? 443,
});
