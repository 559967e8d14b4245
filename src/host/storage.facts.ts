import { withEtcdFolder } from '../etcd/etcd.facts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { dataFolderOf } from '../runtime/runtimes.value.ts';
import { lines, numberOf, probeInPlace } from '../shell/probe.ts';
import { excerpt } from '../shell/text.ts';
import { script } from '../templates.ts';

/** Folders in which the container runtime and the kubelet keep their data. */
const dataPaths = (inventory: Inventory): readonly string[] => [dataFolderOf(inventory), '/var/lib/kubelet'];
/** Where configuration, packages and logs lie. */
const SYSTEM_PATHS = ['/var/log', '/etc', '/usr', '/opt', '/tmp'] as const;

/** The file system that a path lies on, or will lie on once it exists. */
export interface Volume {
  readonly path: string;
  /** True for the folder of etcd's data. */
  readonly isEtcds: boolean;
  readonly mountPoint: string;
  /** As in /proc/mounts, e.g. `ext4`. */
  readonly fileSystem: string;
  readonly readOnly: boolean;
  /** True if nothing on it may be run (mount option noexec). */
  readonly noExec: boolean;
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** 0 of 0 where the file system does not count inodes (btrfs). */
  readonly freeInodes: number;
  readonly totalInodes: number;
}

interface Mount {
  readonly point: string;
  readonly fileSystem: string;
  /** Those of the mount and of the file system, separated by commas. */
  readonly options: string;
}

/** `36 35 98:0 /root /mount/point rw,noatime shared:1 - ext3 /dev/root rw,errors=continue` (proc(5)). */
function mounts(text: string): readonly Mount[] {
  return lines(text).flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , , point, options] = before.split(' ');
    const [fileSystem, , superOptions = ''] = after.split(' ');
    if (point === undefined || options === undefined || fileSystem === undefined) return [];
    const unescaped = point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
    return [{ point: unescaped, fileSystem, options: `${options},${superOptions}` }];
  });
}

const contains = ({ point }: Mount, path: string): boolean =>
  point === '/' || path === point || path.startsWith(`${point}/`);

/**
 * Free bytes (for users who are not root) and inodes of the file systems that matter, and whether they can be written.
 */
export const storage = (inventory: Inventory) =>
  probeInPlace(
    withEtcdFolder(inventory, script('host/probe-storage.sh', { DATA_PATHS: dataPaths(inventory), SYSTEM_PATHS })),
    (out): readonly Volume[] => {
      const all = lines(out);
      const etcd = all.findLast((line) => line.startsWith('etcd '))?.slice('etcd '.length) ?? paths.etcdData;
      const wanted = [...dataPaths(inventory), etcd, ...SYSTEM_PATHS];
      const count = wanted.length;
      const table = mounts(all.slice(2 * count).join('\n'));
      return wanted.map((path, i) => {
        const at = all[i] ?? '';
        const [free, size, blocks, freeInodes, inodes] = (all[count + i] ?? '')
          .split(' ')
          .map((text) => numberOf(text));
        // If mounts cover each other, processes see the last one.
        const [mount] = table.filter((one) => contains(one, at)).toSorted((a, b) => b.point.length - a.point.length);
        const top = table.findLast(({ point }) => point === mount?.point);
        if (top === undefined || inodes === undefined) throw new Error(`no mount of ${path} in: ${excerpt(out)}`);
        return {
          path,
          isEtcds: path === etcd,
          mountPoint: top.point,
          fileSystem: top.fileSystem,
          readOnly: top.options.split(',').includes('ro'),
          noExec: top.options.split(',').includes('noexec'),
          freeBytes: free! * size!,
          totalBytes: blocks! * size!,
          freeInodes: freeInodes!,
          totalInodes: inodes,
        };
      });
    },
  );
