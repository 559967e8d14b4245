import type { Host } from '../model/inventory.ts';
import { merged, mergedArguments } from '../model/merge.ts';
import type { InventoryFile } from './schema.ts';

type HostEntry = InventoryFile['hosts'][number];

/** The settings of a host's node, from the farthest to the nearest: of its role, of its groups in their order, its own. */
export const levelsOf = (file: InventoryFile, host: HostEntry) =>
  [
    host.role === 'control-plane' || host.role === 'worker' ? file.roles[host.role] : undefined,
    ...host.groups.map((name) => file.groups[name]),
    host,
  ].filter((level) => level !== undefined);

/** Settings of a host's kubelet, from every level. */
export function kubeletOf(file: InventoryFile, host: HostEntry): Host['kubelet'] {
  const kubelets = [file.kubelet, ...levelsOf(file, host).map(({ kubelet }) => kubelet)];
  return {
    config: kubelets.reduce((config, level) => merged(config, level.config), {}),
    extraArgs: kubelets.reduce<Host['kubelet']['extraArgs']>(
      (args, level) => mergedArguments(args, level.extraArgs),
      [],
    ),
  };
}
