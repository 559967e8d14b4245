import type { Inventory } from '../model/inventory.ts';
import { minorOf } from '../versions.ts';

/** The image in the other version, if the version stands in its tag. */
const imageAt = (image: string, from: string, to: string): string => {
  const [, name, rest] = new RegExp(`^(.*:v?)${from.replaceAll('.', String.raw`\.`)}(?!\\d)(.*)$`).exec(image) ?? [];
  return name === undefined || rest === undefined ? image : `${name}${to}${rest}`;
};

/** The network with the kube-proxy of Windows hosts in the other version. */
function networkAt(network: Inventory['network'], from: string, to: string): Inventory['network'] {
  if (network.windows === undefined) return network;
  const windows = { ...network.windows, kubeProxyImage: imageAt(network.windows.kubeProxyImage, from, to) };
  // What a plugin's settings are made of stays the same.
  return { ...network, windows } as Inventory['network'];
}

/** The inventory as if it named another Kubernetes version. Versions of other components stay as they are. */
export function atVersion(inventory: Inventory, version: string): Inventory {
  const { kubernetes } = inventory;
  if (version === kubernetes.version) return inventory;
  const minor = minorOf(version);
  const at = <T extends { readonly urlOfMinor: string }>(repository: T): T => ({
    ...repository,
    url: repository.urlOfMinor.replaceAll('{minor}', minor),
  });
  const repository = { ...at(kubernetes.repository), rpm: at(kubernetes.repository.rpm) };
  return {
    ...inventory,
    network: networkAt(inventory.network, kubernetes.version, version),
    kubernetes: { ...kubernetes, version, minor, repository },
  };
}
