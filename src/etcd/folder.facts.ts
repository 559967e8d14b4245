import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { lines, probe } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';
import { etcdFolderOf } from './folder.value.ts';

/**
 * A command that may use `$etcd_folder`, the folder of etcd's data. The host's manifest of etcd decides, also while a
 * restore keeps it aside: kbuild may not have built the cluster. Without a manifest the inventory decides. Empty: the
 * manifest names no folder.
 */
export const withEtcdFolder = (inventory: Inventory, command: Command<'sh'>): Command<'sh'> =>
  using(
    script('etcd/etcd-folder.sh', {
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

/**
 * The name of the cluster for which kbuild made the host's etcd (its `--initial-cluster-token`); empty if kbuild did
 * not make it.
 */
export const etcdToken = probe(
  sh`file=${paths.etcdManifest}; if [ ! -e "$file" ]; then file=${`${paths.restoreAside}/etcd.yaml`}; fi
     if [ -e "$file" ]; then echo token; sed -n 's/^ *- --initial-cluster-token=//p' "$file" | head -n 1; else echo absent; fi`,
  (out): string =>
    out.trim() === 'absent'
      ? 'absent'
      : out
          .trim()
          .replace(/^token\n?/, '')
          .trim(),
);

/** The etcd endpoints of the host's API server; `absent` on a host without an API server. */
export const etcdServers = probe(
  sh`file=/etc/kubernetes/manifests/kube-apiserver.yaml
     if [ -e "$file" ]; then sed -n 's/^ *- --etcd-servers=/servers /p' "$file" | head -n 1 | tr , '\n'; else echo absent; fi`,
  (out): readonly string[] | 'absent' =>
    out.trim() === 'absent' ? 'absent' : lines(out).map((line) => line.replace(/^servers /, '').trim()),
);
