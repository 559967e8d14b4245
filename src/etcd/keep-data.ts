import type { Inventory } from '../model/inventory.ts';
import type { Remote } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { saveSnapshot, type SnapshotStatus } from './snapshot.ts';

/** How etcd's data of a host was kept: a verified snapshot of the live etcd, or a copy of the file of one that is stopped. */
export type Kept = { readonly as: 'snapshot'; readonly status: SnapshotStatus } | { readonly as: 'copy' };

/**
 * Keeps etcd's data that lies in `folder` of a host in the local file `to`: a snapshot where etcd runs, else a copy of its
 * database (`etcdutl snapshot restore --skip-hash-check` takes it). Nothing stays on the host. Returns undefined where there
 * is no database yet.
 * @throws CommandError when there is one that cannot be read.
 */
export async function keepData(
  inventory: Inventory,
  remote: Remote<'sh'>,
  folder: string,
  to: string,
  id: string,
): Promise<Kept | undefined> {
  const db = `${folder}/member/snap/db`;
  const copy = `${folder}/kbuild-copy-${id}.db`;
  const found = await remote.run(sh`if [ -e ${db} ]; then echo found; else echo absent; fi`);
  if (found.trim() === 'absent') return undefined;
  try {
    return { as: 'snapshot', status: await saveSnapshot(inventory, remote, folder, to, id) };
  } catch {
    // It does not run, or gives none, as a learner does not: its file is there.
  }
  try {
    await remote.run(sh`umask 077; cp --reflink=auto -- ${db} ${copy}`);
    await remote.download(copy, to);
    return { as: 'copy' };
  } finally {
    await remote.run(sh`rm -f -- ${copy}`);
  }
}
