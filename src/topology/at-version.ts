import type { Inventory } from '../model/inventory.ts';
import { minorOf } from '../versions.ts';

/** The inventory as if it named another Kubernetes version. Versions of other components stay as they are. */
export function atVersion(inventory: Inventory, version: string): Inventory {
  const { kubernetes } = inventory;
  if (version === kubernetes.version) return inventory;
  const minor = minorOf(version);
  const url = kubernetes.repository.urlOfMinor.replaceAll('{minor}', minor);
  return { ...inventory, kubernetes: { ...kubernetes, version, minor, repository: { ...kubernetes.repository, url } } };
}
