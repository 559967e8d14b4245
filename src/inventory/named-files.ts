import { dirname } from 'node:path';
import { InventoryError } from '../errors.ts';
import { parseInventory } from './document.ts';
import { loadInventory } from './load.ts';
import { localSources } from './sources.ts';

/** A file that an inventory names. */
export interface NamedFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** An inventory's own text, and the files that it names. */
export interface InventoryTexts {
  readonly text: string;
  readonly files: readonly NamedFile[];
}

/** Every text of a document that refers to a file with a secret. */
function secretFiles(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('file:') ? [value.slice('file:'.length)] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretFiles) : [];
}

/**
 * The text of an inventory and of the files that it names: manifests, patches, certificates, sources of `files:`. Without
 * secrets: files of references (`file:…`), and files that hold a private key. Runs no command and fetches nothing. `file`:
 * absolute.
 */
export async function inventoryTexts(
  file: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): Promise<InventoryTexts> {
  const local = localSources({ env, cwd, reach: 'local' });
  const read = new Map<string, Uint8Array>();
  const sources = {
    ...local,
    read: async (path: string, limit: number) => {
      const bytes = await local.read(path, limit);
      read.set(path, bytes);
      return bytes;
    },
  };
  await loadInventory({ file, env, cwd, sources }).catch((error: unknown) => {
    // What only a command or the network has is missing here.
    if (!(error instanceof InventoryError)) throw error;
  });
  const own = Buffer.from(read.get(file) ?? (await local.read(file, Infinity))).toString('utf8');
  const secret = new Set(
    secretFiles(parseInventory(own, file).root.value).map((name) => local.locate(name, dirname(file))),
  );
  const files = [...read]
    .filter(
      ([path, bytes]) =>
        path !== file && !secret.has(path) && !/PRIVATE KEY-----/.test(Buffer.from(bytes).toString('latin1')),
    )
    .map(([path, bytes]) => ({ path, bytes }));
  return { text: own, files };
}
