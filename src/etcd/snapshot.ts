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

/** The one folder of the host that etcd's container can write to. */
const FOLDER = '/var/lib/etcd';

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
 * file, 0600. Nothing of it stays on the host. `id` tells snapshots of one moment apart.
 * @throws CommandError when etcd does not give one, or etcdutl does not take it.
 */
export async function saveSnapshot(control: Remote<'sh'>, to: string, id: string): Promise<SnapshotStatus> {
  const file = `${FOLDER}/kbuild-snapshot-${id}.db`;
  try {
    const status = parseSnapshotStatus(
      await control.job('etcd-snapshot', withEtcd(script('linux/etcd-snapshot.sh', { FILE: file }))),
    );
    await control.download(file, to);
    return status;
  } finally {
    await control.run(sh`rm -f -- ${file} ${`${file}.part`}`);
  }
}
