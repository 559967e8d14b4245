import { resolve } from 'node:path';
import { InventoryError } from '../errors.ts';
import { parseInventory } from './document.ts';
import { readInventoryText, type LoadOptions } from './load.ts';
import { label } from './schema/formats.ts';
import { localSources } from './sources.ts';

/** True for what an inventory may name a cluster. */
export const isClusterName = (text: string): boolean => label().safeParse(text).success;

/**
 * The name of an inventory's cluster. Reads nothing else of it: its secrets may be out of reach, and the rest need not be
 * valid. @throws InventoryError if there is no file or no name
 */
export async function clusterName({ file, env, cwd }: Pick<LoadOptions, 'file' | 'env' | 'cwd'>): Promise<string> {
  const sources = localSources({ env, cwd, reach: 'local' });
  const path = file === '-' ? '-' : resolve(sources.locate(file, cwd));
  const { root } = parseInventory(await readInventoryText(sources, file, path), file);
  const name = root.children.get('name')?.value;
  if (typeof name === 'string' && isClusterName(name)) return name;
  throw new InventoryError([{ at: file, path: 'name', message: 'does not name a cluster' }]);
}
