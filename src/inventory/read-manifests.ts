import type { UserManifest } from '../model/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';
import { checksumOf, sourceOf, type ManifestEntry } from './manifest-entry.ts';
import { manifestObjects } from './manifests.ts';
import { pluginFile } from './network-plugins/index.ts';
import type { Path } from './path.ts';
import type { Reader, Report } from './reader.ts';
import type { InventoryFile } from './schema.ts';

/** Manifests that kbuild applies as others wrote them. */
export interface AppliedManifests {
  /** Of `manifests:`, in its order. */
  readonly manifests: readonly UserManifest[];
  /** Of the network plugin, in the order of its setting. */
  readonly pluginManifests: readonly UserManifest[];
}

interface PlacedManifest extends UserManifest {
  readonly path: Path;
}

async function readManifest(reader: Reader, path: Path, entry: ManifestEntry): Promise<UserManifest> {
  const source = sourceOf(entry);
  const nothing = { source, objects: [] };
  const text = await reader.source(path, source, checksumOf(entry));
  const parse = (): Promise<UserManifest> => Promise.resolve({ source, objects: manifestObjects(text, source) });
  return reader.attempt(path, 'manifest', parse, nothing);
}

/** An object that two manifests describe would be applied twice, by turns. */
function reportRepeatedObjects(manifests: readonly PlacedManifest[], report: Report): void {
  const seen = new Map<string, string>();
  for (const { objects, source, path } of manifests)
    for (const object of objects) {
      const { name, namespace } = object['metadata'] as JsonObject;
      const key = JSON.stringify([object['apiVersion'], object['kind'], namespace, name]);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, source);
      else report(path, `${source}: ${String(object['kind'])} ${String(name)} is in ${first} already`);
    }
}

/** Reads the manifests that the inventory names, and reports what cannot be applied together. URLs only where they may be fetched. */
export async function readManifests(reader: Reader, file: InventoryFile, report: Report): Promise<AppliedManifests> {
  const all = (at: Path, entries: readonly ManifestEntry[]): Promise<readonly PlacedManifest[]> =>
    Promise.all(
      entries.map(async (entry, i) => {
        const path = [...at, i];
        return { ...(await readManifest(reader, path, entry)), path };
      }),
    );
  const { manifests: published } = pluginFile(file);
  const ofPlugin = published === undefined ? [] : await all(published.path, published.entries(file));
  const manifests = await all(['manifests'], file.manifests);
  reportRepeatedObjects([...ofPlugin, ...manifests], report);
  const missing = published?.missing(ofPlugin);
  if (published !== undefined && missing !== undefined) report(published.path, missing);
  const plain = ({ source, objects }: PlacedManifest): UserManifest => ({ source, objects });
  return { manifests: manifests.map(plain), pluginManifests: ofPlugin.map(plain) };
}
