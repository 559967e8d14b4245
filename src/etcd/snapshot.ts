import type { Inventory } from '../model/inventory.ts';
import { withEtcd } from '../facts/etcd-view.ts';
import type { Remote } from '../remote/remote.ts';
import { objectOf } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';

/** What etcdutl reports about a snapshot after it has read the whole file. */
export interface SnapshotStatus {
  /** etcd's revision: the number of the last change in the snapshot. */
  readonly revision: number;
  readonly keys: number;
  /** Bytes. */
  readonly size: number;
  /** Version of the storage, e.g. `3.6.0`. */
  readonly version: string;
}

/** Reads etcdutl's JSON. Throws on anything else. */
export function parseSnapshotStatus(out: string): SnapshotStatus {
  const last = out.trim().split('\n').at(-1) ?? '';
  const { revision, totalKey, totalSize, version } = objectOf(JSON.parse(last));
  if (typeof revision !== 'number' || typeof totalKey !== 'number' || typeof totalSize !== 'number')
    throw new Error('etcdutl did not tell what the snapshot holds');
  return { revision, keys: totalKey, size: totalSize, version: typeof version === 'string' ? version : '' };
}

/**
 * Saves a snapshot through the etcd member of a host, verifies it there with etcdutl, and downloads it to a local file, 0600.
 * Leaves no file on the host. `folder`: etcd's data folder, the only one that its container can write to. `id` tells
 * snapshots of the same time apart.
 * @throws CommandError if etcd gives no snapshot, or etcdutl rejects it
 */
export async function saveSnapshot(
  inventory: Inventory,
  control: Remote<'sh'>,
  folder: string,
  to: string,
  id: string,
): Promise<SnapshotStatus> {
  const file = `${folder}/kbuild-snapshot-${id}.db`;
  try {
    const status = parseSnapshotStatus(
      await control.job(
        'etcd-snapshot',
        withEtcd(inventory, control.host, script('linux/etcd-snapshot.sh', { FILE: file })),
      ),
    );
    await control.download(file, to);
    return status;
  } finally {
    await control.run(sh`rm -f -- ${file} ${`${file}.part`}`);
  }
}
