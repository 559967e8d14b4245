import { createHash } from 'node:crypto';
import type { Inventory, JsonObject, UserManifest } from '../model/inventory.ts';
import { Secret } from '../shell/secret.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A Secret's hash is left out: who knows the rest of the object could guess a short value from it. */
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
      ...(kind === 'Secret' ? {} : { sha256: sha256(JSON.stringify(object)) }),
    };
  }),
});

const summary = (content: string): object => ({ bytes: Buffer.byteLength(content), sha256: sha256(content) });

/** An inventory as a support bundle has it: of manifests, distributed files and patches the names and hashes alone. */
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
