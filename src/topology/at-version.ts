import { containerRuntime } from '../components/runtimes/index.ts';
import type { Inventory, RuntimeSettings } from '../model/inventory.ts';
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

/** The runtime at a minor, where it has a repository and versions for each of them; a version that the inventory names stays. */
function runtimeAt(runtime: RuntimeSettings, minor: string): RuntimeSettings {
  const { version, versionFrom, repository } = runtime;
  if (repository.urlOfMinor === undefined) return runtime;
  return {
    ...runtime,
    version: versionFrom === 'inventory' ? version : (containerRuntime({ runtime }).version(minor) ?? version),
    repository: { ...repository, url: repository.urlOfMinor.replaceAll('{minor}', minor) },
  };
}

/** The inventory as if it named another Kubernetes version. Versions of other components stay as they are, except a runtime's that follows the minor. */
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
    runtime: runtimeAt(inventory.runtime, minor),
    kubernetes: { ...kubernetes, version, minor, repository },
  };
}
