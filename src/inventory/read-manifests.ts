import type { JsonObject, UserManifest } from '../model/inventory.ts';
import { sha256Of, sourceOf, type ManifestEntry } from './manifest-entry.ts';
import { manifestObjects } from './manifests.ts';
import type { Path } from './path.ts';
import type { Reader, Report } from './reader.ts';
import type { InventoryFile } from './schema.ts';

/** What is applied to the cluster as it was written by others. */
export interface AppliedManifests {
  /** Of `manifests:`, in its order. */
  readonly manifests: readonly UserManifest[];
  /** Of `network.calico.operator`, in its order. */
  readonly calicoOperator: readonly UserManifest[];
}

const INSTALLATIONS = 'installations.operator.tigera.io';

interface PlacedManifest extends UserManifest {
  readonly path: Path;
}

async function readManifest(reader: Reader, path: Path, entry: ManifestEntry): Promise<UserManifest> {
  const source = sourceOf(entry);
  const nothing = { source, objects: [] };
  const text = await reader.source(path, source, sha256Of(entry));
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

/** Without its kinds nothing of Calico can be applied; since 3.30 its project keeps them in a manifest of their own. */
function reportMissingKinds({ network }: InventoryFile, operator: readonly UserManifest[], report: Report): void {
  if (network.plugin !== 'calico' || operator.length === 0 || operator.some(({ objects }) => objects.length === 0))
    return;
  const names = operator.flatMap(({ objects }) => objects).map(({ metadata }) => (metadata as JsonObject)['name']);
  if (!names.includes(INSTALLATIONS))
    report(
      ['network', 'calico', 'operator'],
      `none of these holds the CustomResourceDefinition ${INSTALLATIONS}: name the manifest with the CRDs of this version too`,
    );
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
  const operator = await all(['network', 'calico', 'operator'], file.network.calico.operator);
  const manifests = await all(['manifests'], file.manifests);
  reportRepeatedObjects([...operator, ...manifests], report);
  reportMissingKinds(file, operator, report);
  const plain = ({ source, objects }: PlacedManifest): UserManifest => ({ source, objects });
  return { manifests: manifests.map(plain), calicoOperator: operator.map(plain) };
}
