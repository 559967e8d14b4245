import type { Inventory } from '../model/inventory.ts';
import { manifest, type Manifest } from '../resources/manifest.ts';

/** Objects of the inventory's `manifests:`; undefined when there are none. */
export function userManifest({ manifests }: Inventory): Manifest | undefined {
  if (manifests.length === 0) return undefined;
  const sources = manifests.map(({ source }) => source.split('/').at(-1)!);
  return {
    title: sources.length > 3 ? `${String(sources.length)} manifests` : sources.join(', '),
    objects: manifests.flatMap(({ objects }) => objects),
    compare: 'hash',
  };
}

/** The user's own objects, after the network plugin. */
export const userManifests = manifest('user-manifests', userManifest);
