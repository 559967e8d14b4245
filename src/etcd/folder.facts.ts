import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { within } from '../shell/decode.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';

/** The folder for etcd's data on a host: kubeadm's default, or `kubeadm.cluster.etcd.local.dataDir`. */
export function etcdFolderOf({ kubeadm }: Pick<Inventory, 'kubeadm'>): string {
  const folder = within(kubeadm.cluster, 'etcd', 'local')['dataDir'];
  return typeof folder === 'string' && folder !== '' ? folder : paths.etcdData;
}

/** The host's manifest of etcd, where it is and where a restore keeps it aside. */
const MANIFESTS: readonly string[] = [paths.etcdManifest, `${paths.restoreAside}/etcd.yaml`];

/** The value of a flag in what probe-manifest-flag.sh prints; empty if the manifest lacks it, undefined without one. */
const flagIn = (out: string): string | undefined => {
  const [state, value = ''] = lines(out).map((line) => line.trim());
  return state === 'absent' ? undefined : value;
};

/**
 * A command that may use `$etcd_folder`, the folder of etcd's data. The host's manifest of etcd decides, even while a
 * restore keeps the manifest in another folder, because kbuild may not have built the cluster. Without a manifest the
 * inventory decides. Empty if the manifest names no folder.
 */
export const withEtcdFolder = (inventory: Inventory, command: Command<'sh'>): Command<'sh'> =>
  using(
    script('etcd/etcd-folder.sh', {
      DEFAULT_FOLDER: etcdFolderOf(inventory),
      MANIFESTS,
    }),
    command,
  );

/** The folder of etcd's data on the host, present or future. Throws if the manifest names none. */
export const etcdFolder = (inventory: Inventory) =>
  probeInPlace(withEtcdFolder(inventory, sh`echo "$etcd_folder"`), (out): string => {
    const folder = out.trim();
    if (!folder.startsWith('/')) throw new Error(`${paths.etcdManifest} names no --data-dir`);
    return folder;
  });

/**
 * The name of the cluster for which kbuild made the host's etcd (its `--initial-cluster-token`); empty if kbuild did
 * not make it.
 */
export const etcdToken = probeInPlace(
  script('etcd/probe-manifest-flag.sh', { FILES: MANIFESTS, FLAG: 'initial-cluster-token' }),
  (out): string => flagIn(out) ?? 'absent',
);

/** The etcd endpoints of the host's API server; `absent` on a host without an API server. */
export const etcdServers = probeInPlace(
  script('etcd/probe-manifest-flag.sh', {
    FILES: ['/etc/kubernetes/manifests/kube-apiserver.yaml'],
    FLAG: 'etcd-servers',
  }),
  (out): readonly string[] | 'absent' => {
    const servers = flagIn(out)?.split(',');
    return servers?.map((server) => server.trim()).filter((server) => server !== '') ?? 'absent';
  },
);
