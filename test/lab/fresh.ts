/** Hosts on which nothing was ever built, and an inventory that names them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { inventoryFile } from './kbuild.ts';
import { inventory, type LabInventory } from './inventory.ts';
import * as lab from './lab.ts';

/** What a test has of its own. */
export interface Fresh {
  readonly folder: string;
  readonly file: string;
  /** Where kbuild, started from now on, keeps its state. */
  readonly state: string;
  /** `kbuild up` without questions, its kubeconfig in the folder: the words after `kbuild`. */
  readonly up: readonly string[];
}

/** Boots these hosts anew; `cluster` names the cluster; `more` makes further settings of its inventory. */
export async function fresh(
  cluster: string,
  hosts: readonly string[],
  more: (plain: LabInventory) => object = () => ({}),
): Promise<Fresh> {
  await lab.up(hosts);
  await lab.reset(hosts);
  const plain = await inventory(hosts);
  const { folder, file } = inventoryFile({});
  const state = join(folder, 'state');
  process.env['XDG_STATE_HOME'] = state;
  writeFileSync(file, stringify({ ...plain, name: cluster, ...more(plain) }, { aliasDuplicateObjects: false }));
  return { folder, file, state, up: ['up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf')] };
}
