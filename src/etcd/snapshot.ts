import { createReadStream } from 'node:fs';
import { spkiFingerprint } from '../certificates/fingerprint.value.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { objectOf } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import type { Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { withEtcd } from './view.facts.ts';

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';
/** Upper limit for the PEM text of a certificate authority, in characters. */
const LONGEST = 16_384;

/**
 * Fingerprints of all certificates that a snapshot contains in plain text. Kubernetes stores its CA in a ConfigMap of
 * every namespace (kube-root-ca.crt), so they show from which cluster the snapshot comes.
 */
export async function authoritiesIn(snapshot: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const known = new Set<string>();
  let rest = '';
  for await (const chunk of createReadStream(snapshot, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
    const text = rest + (chunk as string);
    let from = 0;
    for (;;) {
      const begin = text.indexOf(BEGIN, from);
      const end = begin === -1 ? -1 : text.indexOf(END, begin);
      if (begin === -1 || end === -1) break;
      const pem = text.slice(begin, end + END.length);
      from = begin + BEGIN.length;
      if (pem.length > LONGEST || known.has(pem)) continue;
      known.add(pem);
      // JSON strings have \n for line ends.
      const plain = `${pem.replaceAll(String.raw`\n`, '\n')}\n`;
      try {
        found.add(spkiFingerprint(plain));
      } catch {
        // A page of the database ends inside this copy of the CA. Other copies are complete.
      }
    }
    rest = text.slice(-LONGEST);
  }
  return found;
}

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
    throw new Error('etcdutl did not report the contents of the snapshot');
  return { revision, keys: totalKey, size: totalSize, version: typeof version === 'string' ? version : '' };
}

/**
 * Saves a snapshot through the etcd member of a host, verifies it there with etcdutl, and downloads it to a local file,
 * 0600. Leaves no file on the host. `folder`: etcd's data folder, the only one that its container can write to. `id`
 * tells snapshots of the same time apart.
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
        withEtcd(inventory, control.host, script('etcd/etcd-snapshot.sh', { FILE: file })),
      ),
    );
    await control.download(file, to);
    return status;
  } finally {
    await control.run(sh`rm -f -- ${file} ${`${file}.part`}`);
  }
}

/**
 * The form in which kbuild saved etcd's data of a host: a verified snapshot of a running etcd, or a copy of the
 * database of a stopped one.
 */
type Kept = { readonly as: 'snapshot'; readonly status: SnapshotStatus } | { readonly as: 'copy' };

/**
 * Saves etcd's data from `folder` of a host in the local file `to`: a snapshot if etcd runs, else a copy of its
 * database (which `etcdutl snapshot restore --skip-hash-check` accepts). Leaves no file on the host. Returns undefined
 * if there is no database.
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
