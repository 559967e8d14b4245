import { ADMIN_KUBECONFIG, apiServerUrl } from '../topology/api-server.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { paths } from '../paths.ts';

/** The argv of a kubectl as the administrator, against the API server of the host that it runs on. */
export const kubectl = (inventory: Inventory, host: LinuxHost): readonly string[] => [
  ...['env', '-u', 'HTTPS_PROXY', '-u', 'https_proxy', `KUBECACHEDIR=${paths.run}/kubectl`, ADMIN_KUBECONFIG],
  ...['kubectl', '--server', apiServerUrl(inventory, host)],
];
