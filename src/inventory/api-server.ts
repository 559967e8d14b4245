import { paths } from '../paths.ts';
import { hostPort } from './addresses.ts';
import type { Inventory, LinuxHost } from './inventory.ts';

/** kubeadm's default bind port of an API server (`v1beta4/defaults.go`). */
const DEFAULT_BIND_PORT = 6443;

/**
 * The port at which API servers listen on their hosts: kubeadm's default or the inventory's
 * `localAPIEndpoint.bindPort`.
 */
export function apiPort({ kubeadm }: Inventory): number {
  const local = kubeadm.init['localAPIEndpoint'] as { readonly bindPort?: unknown } | undefined;
  return typeof local?.bindPort === 'number' ? local.bindPort : DEFAULT_BIND_PORT;
}

/** URL of the API server of a control plane at an address. */
export const apiServerUrlAt = (inventory: Inventory, address: string): string =>
  `https://${hostPort(address, apiPort(inventory))}`;

/** URL of a control plane's own API server: a broken load balancer cannot hide the cluster. */
export const apiServerUrl = (inventory: Inventory, host: LinuxHost): string =>
  apiServerUrlAt(inventory, host.internalAddress);

/** The administrator's kubeconfig that kubeadm puts on every control plane. */
export const ADMIN_CONF = '/etc/kubernetes/admin.conf';

/** The founder's second kubeconfig, used if admin.conf is gone. */
export const SUPER_ADMIN_CONF = '/etc/kubernetes/super-admin.conf';

/** Both as KUBECONFIG: kubectl leaves out a file that is not there, and takes the context of the first one that is. */
export const ADMIN_KUBECONFIG = `KUBECONFIG=${ADMIN_CONF}:${SUPER_ADMIN_CONF}`;

/** The argv of a kubectl as the administrator, against the API server of the host that it runs on. */
export const kubectl = (inventory: Inventory, host: LinuxHost): readonly string[] => [
  ...['env', '-u', 'HTTPS_PROXY', '-u', 'https_proxy', `KUBECACHEDIR=${paths.run}/kubectl`, ADMIN_KUBECONFIG],
  ...['kubectl', '--server', apiServerUrl(inventory, host)],
];
