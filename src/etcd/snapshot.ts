import type { Inventory } from '../model/inventory.ts';
import { withEtcd } from '../facts/etcd-view.ts';
import type { Remote } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';

/** What etcdutl says about a snapshot that it has read whole. */
export interface SnapshotStatus {
  /** etcd's revision that it holds; the last change of the cluster's data in it. */
  readonly revision: number;
  readonly keys: number;
  /** Bytes. */
  readonly size: number;
  /** Version of the storage, e.g. `3.6.0`. */
  readonly version: string;
}

/** etcdutl's JSON. Throws on anything else. */
export function parseSnapshotStatus(out: string): SnapshotStatus {
  const last = out.trim().split('\n').at(-1) ?? '';
  const { revision, totalKey, totalSize, version } = JSON.parse(last) as Readonly<Record<string, unknown>>;
  if (typeof revision !== 'number' || typeof totalKey !== 'number' || typeof totalSize !== 'number')
    throw new Error('etcdutl did not tell what the snapshot holds');
  return { revision, keys: totalKey, size: totalSize, version: typeof version === 'string' ? version : '' };
}

/**
 * Saves a snapshot through the etcd member of a control plane, has it verified by etcdutl there, and fetches it into a local
 * file, 0600. Nothing of it stays on the host. `folder`: that of etcd's data, the only one that its container can write to.
 * `id` tells snapshots of one moment apart.
 * @throws CommandError when etcd does not give one, or etcdutl does not take it.
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
      await control.job('etcd-snapshot', withEtcd(inventory, script('linux/etcd-snapshot.sh', { FILE: file }))),
    );
    await control.download(file, to);
    return status;
  } finally {
    await control.run(sh`rm -f -- ${file} ${`${file}.part`}`);
  }
}
