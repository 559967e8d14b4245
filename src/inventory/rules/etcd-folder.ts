import { packageManagerFolders } from '../../components/distributions/index.ts';
import { CONTAINER_RUNTIMES } from '../../components/runtimes/index.ts';
import type { JsonObject } from '../../shell/decode.ts';
import { problem, type Rule, type Violation } from './rule.ts';

const PATH = ['kubeadm', 'cluster', 'etcd', 'local'] as const;

/** Folders that etcd cannot have for itself: kubeadm empties etcd's folder at every reset. */
const SHARED =
  /^\/(?:etc|usr|bin|sbin|lib\w*|boot|dev|proc|sys|root|run|tmp)(?:\/|$)|^\/var\/(?:run|tmp|log)(?:\/|$)|^\/var\/lib\/(?:kubelet|kbuild|cni)(?:\/|$)/;
const TAKEN = [...CONTAINER_RUNTIMES.map(({ dataFolder }) => dataFolder), ...packageManagerFolders];
const isShared = (folder: string): boolean =>
  SHARED.test(folder) || TAKEN.some((taken) => folder === taken || folder.startsWith(`${taken}/`));

/** At least two parts, of characters that stand unquoted in etcd's manifest. */
const FORM = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*){2,}$/;

/** etcd's data has a folder of its own, which kbuild finds by one setting. */
export const etcdFolder: Rule = ({ kubeadm }): readonly Violation[] => {
  const etcd = kubeadm.cluster['etcd'] as { readonly local?: JsonObject } | null | undefined;
  const local = etcd?.local ?? {};
  const dataDir = local['dataDir'];
  const isFolder = typeof dataDir === 'string' && FORM.test(dataDir) && !isShared(dataDir) && dataDir !== '/var/lib';
  const args = Array.isArray(local['extraArgs']) ? (local['extraArgs'] as readonly unknown[]) : [];
  return [
    ...(dataDir === undefined || isFolder
      ? []
      : [
          problem(
            [...PATH, 'dataDir'],
            'must be the absolute path of a folder for etcd alone, on a disk that stays, e.g. /data/etcd: kubeadm empties it at every reset',
          ),
        ]),
    ...args.flatMap((arg, i) => {
      const name = (arg as { readonly name?: unknown } | null)?.name;
      return name === 'data-dir' || name === 'wal-dir'
        ? [
            problem(
              [...PATH, 'extraArgs', i, 'name'],
              `--${name} is set by kbuild: use kubeadm.cluster.etcd.local.dataDir`,
            ),
          ]
        : [];
    }),
  ];
};
