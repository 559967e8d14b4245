import type { Inventory, UserManifest } from '../model/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';
import { Secret, sha256Of } from '../shell/secret.ts';

/** Without the hash of a Secret: a reader who knows the rest of the object could guess a short value from it. */
const listed = ({ source, objects }: UserManifest): object => ({
  source,
  objects: objects.map((object) => {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace } = metadata as JsonObject;
    return {
      apiVersion,
      kind,
      namespace,
      name,
      ...(kind === 'Secret' ? {} : { sha256: sha256Of(JSON.stringify(object)) }),
    };
  }),
});

const summary = (content: string): object => ({ bytes: Buffer.byteLength(content), sha256: sha256Of(content) });

/** An inventory for a support bundle, with only the names and hashes of manifests, distributed files and patches. */
export function bundleInventory(inventory: Inventory): object {
  const { files, manifests, network, kubeadm } = inventory;
  return {
    ...inventory,
    files: files.map(({ content, ...file }) => ({
      ...file,
      content: content instanceof Secret ? content : summary(content),
    })),
    manifests: manifests.map(listed),
    network: { ...network, manifests: network.manifests.map(listed) },
    kubeadm: {
      ...kubeadm,
      patches: Object.fromEntries(Object.entries(kubeadm.patches).map(([name, content]) => [name, summary(content)])),
    },
  };
}
