import { openSync, closeSync, readSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AGE_HEADER } from '../../backup/encryption.ts';
import { readBackup, type Backup } from '../../backup/read.ts';
import { Refused, UsageError } from '../../errors.ts';
import { authoritiesIn } from '../../etcd/foreign.ts';
import type { Inventory } from '../../model/inventory.ts';
import { makeFolder } from '../../report/make-folder.ts';
import type { Context } from '../context.ts';
import type { Flags } from '../options.ts';
import { keyringOf, type KeyFlags } from './backup-lock.ts';
import { inventoryFile } from './inventory-file.ts';
import { readInventory } from './read-inventory.ts';
import { stateFolder } from './state-folder.ts';

/** Prefix of the snapshot that lies unencrypted in the state folder during a restore. */
const UNENCRYPTED = 'unencrypted-restore-';

/** A backup that was read, with its snapshot in a local file. */
export interface OpenedBackup extends Backup {
  readonly snapshot: string;
  readonly inventory: Inventory;
}

/** True for a file that age encrypted. @throws the system's error when it cannot be read */
export function isBackup(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(AGE_HEADER.length);
    readSync(file, head, 0, head.length, 0);
    return head.toString('latin1') === AGE_HEADER;
  } finally {
    closeSync(file);
  }
}

/** @throws Refused unless the snapshot holds the authority that the manifest names */
async function refuseSwapped({ manifest, snapshot }: OpenedBackup): Promise<void> {
  if ((await authoritiesIn(snapshot)).has(manifest.ca)) return;
  throw new Refused(
    manifest.cluster,
    `the snapshot of the backup is not of the cluster whose keys it has (${manifest.ca})`,
    'take another backup; nothing was changed',
  );
}

/**
 * Calls `use` with a backup that was decrypted and verified. Its snapshot lies on this machine, 0600, until `use` has ended; what
 * a killed run left is deleted first. @throws UsageError and Refused like `readBackup`
 */
export async function withOpenedBackup<T>(
  context: Context,
  flags: Flags & KeyFlags,
  path: string,
  use: (opened: OpenedBackup) => Promise<T>,
): Promise<T> {
  // It is read again later.
  if (inventoryFile(context, flags) === '-')
    throw new UsageError('a restore from a backup needs the inventory as a file: -i FILE');
  const { inventory } = await readInventory(context, { ...flags, quiet: true });
  const folder = stateFolder(context, inventory.name);
  makeFolder(folder);
  for (const name of await readdir(folder)) {
    if (name.startsWith(UNENCRYPTED)) await rm(join(folder, name), { force: true });
  }
  const snapshot = join(folder, `${UNENCRYPTED}${String(context.nowMs()).replace('.', '-')}.db`);
  try {
    const backup = await readBackup(path, await keyringOf(context, flags), snapshot);
    const opened = { ...backup, snapshot, inventory };
    await refuseSwapped(opened);
    return await use(opened);
  } finally {
    await rm(snapshot, { force: true });
  }
}
