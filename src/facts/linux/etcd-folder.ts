import { etcdFolderOf } from '../../topology/etcd-folder.ts';
import type { Inventory } from '../../model/inventory.ts';
import { paths } from '../../paths.ts';
import type { Command } from '../../shell/command.ts';
import { sh } from '../../shell/sh.ts';
import { script, using } from '../../templates.ts';
import { probe } from '../../shell/probe.ts';

/**
 * A command that may use `$etcd_folder`, the folder of etcd's data. The host's manifest of etcd decides, also while a restore
 * keeps it aside: kbuild may not have built the cluster. Without a manifest the inventory decides. Empty: the manifest names
 * no folder.
 */
export const withEtcdFolder = (inventory: Inventory, command: Command<'sh'>): Command<'sh'> =>
  using(
    script('linux/etcd-folder.sh', {
      DEFAULT_FOLDER: etcdFolderOf(inventory),
      MANIFESTS: [paths.etcdManifest, `${paths.restoreAside}/etcd.yaml`],
    }),
    command,
  );

/** The folder of etcd's data on the host, where it is or where it will be. Throws where the manifest names none. */
export const etcdFolder = (inventory: Inventory) =>
  probe(withEtcdFolder(inventory, sh`echo "$etcd_folder"`), (out): string => {
    const folder = out.trim();
    if (!folder.startsWith('/')) throw new Error(`${paths.etcdManifest} names no --data-dir`);
    return folder;
  });
