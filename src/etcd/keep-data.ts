import type { Inventory } from '../model/inventory.ts';
import type { Remote } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { saveSnapshot, type SnapshotStatus } from './snapshot.ts';

/** How kbuild saved etcd's data of a host: a verified snapshot of a running etcd, or a copy of the file of a stopped one. */
type Kept = { readonly as: 'snapshot'; readonly status: SnapshotStatus } | { readonly as: 'copy' };

/**
 * Saves etcd's data from `folder` of a host in the local file `to`: a snapshot if etcd runs, else a copy of its database (which
 * `etcdutl snapshot restore --skip-hash-check` accepts). Leaves no file on the host. Returns undefined if there is no database.
 * @throws CommandError if the database cannot be read
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
    // etcd does not run, or is a learner, which gives no snapshot: kbuild copies its file.
  }
  try {
    await remote.run(sh`umask 077; cp --reflink=auto -- ${db} ${copy}`);
    await remote.download(copy, to);
    return { as: 'copy' };
  } finally {
    await remote.run(sh`rm -f -- ${copy}`);
  }
}
