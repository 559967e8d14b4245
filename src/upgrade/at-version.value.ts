import type { Host, Inventory, PackageRepository, RepositorySource, RuntimeSettings } from '../inventory/inventory.ts';
import { containerRuntime } from '../runtime/runtimes.value.ts';
import { onceForEach } from '../shell/memo.ts';
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

/** A repository, for packages of each format, at a minor; one that is the same for all minors stays. */
function repositoryAt(repository: PackageRepository, minor: string): PackageRepository {
  const at = <Source extends RepositorySource>(source: Source): Source =>
    source.urlOfMinor === undefined ? source : { ...source, url: source.urlOfMinor.replaceAll('{minor}', minor) };
  return { ...at(repository), rpm: at(repository.rpm) };
}

/**
 * The runtime at a minor, where it has a repository and versions for each of them; a version that the inventory names
 * stays.
 */
function runtimeAt(runtime: RuntimeSettings, minor: string): RuntimeSettings {
  const { version, versionFrom, repository } = runtime;
  if (repository.urlOfMinor === undefined && repository.rpm.urlOfMinor === undefined) return runtime;
  return {
    ...runtime,
    version: versionFrom === 'inventory' ? version : (containerRuntime({ runtime }).version(minor) ?? version),
    repository: repositoryAt(repository, minor),
  };
}

/** The hosts with their own runtimes at a minor; those that share one still do. */
function hostsAt(hosts: readonly Host[], minor: string): readonly Host[] {
  if (!hosts.some((host) => host.os === 'linux' && host.runtime !== undefined)) return hosts;
  const moved = onceForEach((runtime: RuntimeSettings) => runtimeAt(runtime, minor));
  return hosts.map((host) =>
    host.os === 'windows' || host.runtime === undefined ? host : { ...host, runtime: moved(host.runtime) },
  );
}

/**
 * The inventory as if it named another Kubernetes version. Versions of other components stay as they are, except a
 * runtime's that follows the minor.
 */
export function atVersion(inventory: Inventory, version: string): Inventory {
  const { kubernetes } = inventory;
  if (version === kubernetes.version) return inventory;
  const minor = minorOf(version);
  return {
    ...inventory,
    network: networkAt(inventory.network, kubernetes.version, version),
    hosts: hostsAt(inventory.hosts, minor),
    runtime: runtimeAt(inventory.runtime, minor),
    kubernetes: { ...kubernetes, version, minor, repository: repositoryAt(kubernetes.repository, minor) },
  };
}
