import { endpointHost } from '../inventory/api-server.ts';
import type { Inventory, WindowsHost } from '../inventory/inventory.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { registryServer, registrySettings } from '../runtime/registries.value.ts';
import type { ReachTarget } from './network.facts.ts';

const originOf = (url: string): ReachTarget => {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
};

/** The registry of an image. A name without a registry is on Docker Hub. */
function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]/.test(first) ? first : 'docker.io';
}

/** The server to which containerd connects first for a registry: its first mirror, if it has one. */
function firstServerOf(registry: string, runtime: Inventory['runtime']): ReachTarget {
  const [mirror] = registrySettings(runtime, registry)?.mirrors ?? [];
  return originOf(mirror ?? `https://${registryServer(registry)}`);
}

/** Images of every Windows host: the pause image, and if the network runs in pods, its images. */
export function windowsImages(inventory: Inventory, { windows: { pauseImage } }: WindowsHost): readonly string[] {
  const { network } = inventory;
  if (network.windows === undefined || network.windows.services) return [pauseImage];
  return [pauseImage, network.windows.kubeProxyImage, ...(networkPlugin(inventory).windows?.images(network) ?? [])];
}

/**
 * Addresses to which a Windows host must connect: the API endpoint, and the proxy or else the sources and registries.
 */
export function reachTargets(inventory: Inventory, host: WindowsHost): readonly ReachTarget[] {
  const { endpoint, network, proxy, runtime } = inventory;
  const { downloads } = host.windows;
  const api = { host: endpointHost(endpoint), port: Number(endpoint.slice(endpoint.lastIndexOf(':') + 1)) };
  if (proxy !== undefined) return [api, originOf(proxy.https ?? proxy.http ?? '')];
  const kubernetes = downloads.kubernetes.replaceAll('{version}', inventory.kubernetes.version);
  const site = network.windows?.services === true ? [downloads.network] : [];
  const sources =
    downloads.via === 'host' ? [kubernetes, downloads.containerd, downloads.crictl, ...site].map(originOf) : [];
  const registries = windowsImages(inventory, host).map((image) => firstServerOf(registryOf(image), runtime));
  const all = [api, ...sources, ...registries];
  return all.filter(
    ({ host: name, port }, i) => all.findIndex((other) => other.host === name && other.port === port) === i,
  );
}
