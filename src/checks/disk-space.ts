import { hasKubelet } from '../facts/joined.ts';
import type { HostFinding } from './each-host.ts';
import type { Volume } from '../facts/linux/storage.ts';
import { eachHost } from './each-host.ts';

const MIB = 1024 * 1024;

/** MiB that a path needs: images of Kubernetes unpacked, etcd's default quota, packages, logs. */
const NEEDED: Readonly<Record<string, number>> = {
  '/var/lib/containerd': 3000,
  '/var/lib/kubelet': 500,
  '/var/log': 200,
  '/etc': 20,
  '/usr': 500,
  '/opt': 200,
  '/tmp': 100,
};

/** etcd's default quota. */
const ETCD_MIB = 2048;

/** The kubelet's defaults for `nodefs.available` and `imagefs.available`. */
const EVICTED_BELOW: Readonly<Record<string, number>> = { '/var/lib/kubelet': 0.1, '/var/lib/containerd': 0.15 };

/** The kubelet's default for `nodefs.inodesFree` and `imagefs.inodesFree`. */
const INODES_BELOW = 0.05;
const MIN_INODES = 2000;

const percent = (part: number, whole: number): string => `${String(Math.round((100 * part) / whole))} %`;

const needed = ({ path }: Volume, holdsEtcd: boolean): number | undefined =>
  path === '/var/lib/etcd' ? (holdsEtcd ? ETCD_MIB : undefined) : NEEDED[path];

/** Packages, images, etcd and logs have room, and the kubelet would not at once evict pods for want of it. */
export const diskSpace = eachHost(
  {
    name: 'disk-space',
    title: 'there are free bytes and inodes on the file systems that matter',
    why: 'Where less than 10 % is free (15 % for images), or 5 % of the inodes, the kubelet marks the node as under disk pressure and runs no pods (`evictionHard`). A full disk in the middle of an installation is worse; on a host that is a node already it is a warning. Make room, or put a larger disk there.',
    severities: ['error', 'warning'],
  },
  ({ host, facts }) =>
    facts.storage.flatMap((volume): readonly HostFinding[] => {
      const { path, mountPoint, freeBytes, totalBytes, freeInodes, totalInodes } = volume;
      const need = needed(volume, host.role === 'control-plane' || host.role === 'etcd');
      if (need === undefined) return [];
      const severity = hasKubelet(facts) ? ('warning' as const) : ('error' as const);
      const evicts = host.kubelet.config['evictionHard'] === undefined;
      const share = evicts ? (EVICTED_BELOW[path] ?? 0) : 0;
      const remedy = `make room on ${mountPoint}`;
      return [
        ...(freeBytes < need * MIB
          ? [
              {
                severity,
                message: `${path} has ${String(Math.floor(freeBytes / MIB))} MiB free, and needs ${String(need)}`,
                remedy,
              },
            ]
          : freeBytes < share * totalBytes
            ? [
                {
                  severity,
                  message: `${path} has ${percent(freeBytes, totalBytes)} free, and the kubelet runs no pods below ${percent(share, 1)}`,
                  remedy,
                },
              ]
            : []),
        ...(totalInodes > 0 && freeInodes < Math.max(MIN_INODES, share > 0 ? INODES_BELOW * totalInodes : 0)
          ? [
              {
                severity,
                message: `${path} has ${String(freeInodes)} of ${String(totalInodes)} inodes free`,
                remedy,
              },
            ]
          : []),
      ];
    }),
);
