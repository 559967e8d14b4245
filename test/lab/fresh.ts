/** Hosts on which nothing was ever built, and an inventory that names them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { inventoryFile } from './kbuild.ts';
import { inventory, type LabInventory } from './inventory.ts';
import * as lab from './lab.ts';
import { preparedDisk } from './prepared-disk.ts';

/** What a test has of its own. */
export interface Fresh {
  readonly folder: string;
  readonly file: string;
  /** Where kbuild, started from now on, keeps its state. */
  readonly state: string;
  /** `kbuild up` without questions, its kubeconfig in the folder: the words after `kbuild`. */
  readonly up: readonly string[];
}

/**
 * Boots these hosts with a new disk, whether they existed or not. Those in `prepared` have what every node needs (prepared-disk.ts), the
 * others are bare.
 */
export async function bootFresh(hosts: readonly string[], prepared: readonly string[] = []): Promise<void> {
  const disk = prepared.length === 0 ? undefined : await preparedDisk();
  const existing = lab.hostNames();
  const boot = async (names: readonly string[], given: { readonly prepared?: string }): Promise<void> => {
    await lab.up(
      names.filter((name) => !existing.includes(name)),
      given,
    );
    await lab.reset(
      names.filter((name) => existing.includes(name)),
      given,
    );
  };
  await boot(
    hosts.filter((name) => !prepared.includes(name)),
    {},
  );
  if (disk !== undefined) await boot(prepared, { prepared: disk });
}

/** Boots these hosts anew; `cluster` names the cluster; `more` makes further settings of its inventory; hosts in `prepared` are not bare. */
export async function fresh(
  cluster: string,
  hosts: readonly string[],
  more: (plain: LabInventory) => object = () => ({}),
  prepared: readonly string[] = [],
): Promise<Fresh> {
  await bootFresh(hosts, prepared);
  const plain = await inventory(hosts);
  const { folder, file } = inventoryFile({});
  const state = join(folder, 'state');
  process.env['XDG_STATE_HOME'] = state;
  writeFileSync(file, stringify({ ...plain, name: cluster, ...more(plain) }, { aliasDuplicateObjects: false }));
  return { folder, file, state, up: ['up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf')] };
}
