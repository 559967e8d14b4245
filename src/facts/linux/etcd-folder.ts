import { etcdFolderOf } from '../../topology/etcd-folder.ts';
import type { Inventory } from '../../model/inventory.ts';
import { paths } from '../../paths.ts';
import type { Command } from '../../shell/command.ts';
import { sh } from '../../shell/sh.ts';
import { probe } from '../probe.ts';

/**
 * Sets `$etcd_folder`, the folder of etcd's data: as the host's manifest of etcd says (also while a restore has it aside),
 * which holds for a cluster that kbuild did not build, too; without a manifest as the inventory says. Empty: there is a
 * manifest that names none.
 */
export const findEtcdFolder = (inventory: Inventory): Command<'sh'> =>
  sh`etcd_folder=${etcdFolderOf(inventory)}
     for manifest in ${paths.etcdManifest} ${`${paths.restoreAside}/etcd.yaml`}; do
       if [ -e "$manifest" ]; then
         etcd_folder=$(tr -d '"' <"$manifest" | tr -d "'" | sed -n 's/^ *- *--data-dir=//p' | head -n 1)
         break
       fi
     done`;

/** A command that may use `$etcd_folder`. */
export const withEtcdFolder = (inventory: Inventory, command: Command<'sh'>): Command<'sh'> => ({
  ...command,
  script: `${findEtcdFolder(inventory).script}\n${command.script}`,
});

/** The folder of etcd's data on the host, where it is or where it will be. Throws where the manifest names none. */
export const etcdFolder = (inventory: Inventory) =>
  probe(withEtcdFolder(inventory, sh`echo "$etcd_folder"`), (out): string => {
    const folder = out.trim();
    if (!folder.startsWith('/')) throw new Error(`${paths.etcdManifest} names no --data-dir`);
    return folder;
  });
