import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { JsonObject } from '../shell/decode.ts';

/** The folder for etcd's data on a host: kubeadm's default, or `kubeadm.cluster.etcd.local.dataDir`. */
export function etcdFolderOf({ kubeadm }: Pick<Inventory, 'kubeadm'>): string {
  const etcd = kubeadm.cluster['etcd'] as { readonly local?: JsonObject } | undefined;
  const folder = etcd?.local?.['dataDir'];
  return typeof folder === 'string' && folder !== '' ? folder : paths.etcdData;
}
