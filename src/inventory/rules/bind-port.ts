import type { InventoryFile } from '../schema.ts';

/** kubeadm's default port of API servers. */
export const API_PORT = 6443;

/** The port at which API servers listen on their hosts; undefined when the override is no port. */
export function bindPort({ kubeadm }: InventoryFile): number | undefined {
  const local = kubeadm.init['localAPIEndpoint'] as { readonly bindPort?: unknown } | null | undefined;
  const given = local?.bindPort ?? API_PORT;
  return Number.isInteger(given) && Number(given) > 0 && Number(given) < 65_536 ? Number(given) : undefined;
}
