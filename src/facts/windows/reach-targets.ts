import { endpointHost } from '../topology/api-server.ts';
import type { Inventory, WindowsHost } from '../model/inventory.ts';
import { networkPrograms } from '../inventory/network-programs.ts';
import { registryServer, registrySettings } from '../topology/registries.ts';
import { windowsPaths } from '../paths.ts';
import type { VersionedProgram } from './windows/services.ts';
import type { ReachTarget } from './windows/network.ts';

/** Windows features that some step owns. */
export const watchedFeatures: readonly string[] = ['Containers', 'Hyper-V', 'Hyper-V-PowerShell'];

/** Services that some step owns or some check asks about; flanneld and kube-proxy where they are no pods. */
export const watchedServices: readonly string[] = [
  'containerd',
  'kubelet',
  'flanneld',
  'kube-proxy',
  'docker',
  'hns',
  'vmcompute',
  'sshd',
];

/** Firewall rules that some step owns, and that of the SSH server. */
export const watchedRules: readonly string[] = [
  'kbuild-kubelet',
  'kbuild-kube-proxy',
  'kbuild-vxlan',
  'kbuild-node-ports',
  'OpenSSH-Server-In-TCP',
];

/** Variables of the machine's environment that some step owns. */
export const watchedVariables: readonly string[] = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'Path',
  'CRI_CONFIG_FILE',
  'KBUILD_VARIABLES',
];

/** Files and folders that some step owns or takes away. */
export const watchedWindowsPaths: readonly string[] = Object.values(windowsPaths).filter((path) =>
  path.startsWith('C:\\'),
);

/** Programs of the network where it is no pods: files, because some of them tell no version. */
export const watchedNetworkPrograms = ({ network }: Inventory): readonly string[] =>
  network.windows?.services === true ? networkPrograms(network.flannel.backend).map(({ path }) => path) : [];

/** Folders that kbuild owns whole: every file in them is observed. */
export const watchedWindowsTrees: readonly string[] = [windowsPaths.certsD, windowsPaths.kubeadmPatches];

/** Folders with secrets in clear: who may look into them. */
export const watchedAccess: readonly string[] = [windowsPaths.kubelet, windowsPaths.kubernetes];

const program = (name: string, path: string, ...words: readonly string[]): VersionedProgram => ({
  name,
  path,
  arguments: words,
  exits: [],
});

/** Programs that some step owns, and how they tell their version. */
export const watchedPrograms: readonly VersionedProgram[] = [
  program('containerd', `${windowsPaths.containerd}\\containerd.exe`, '--version'),
  program('crictl', `${windowsPaths.programs}\\crictl.exe`, '--version'),
  program('kubelet', `${windowsPaths.programs}\\kubelet.exe`, '--version'),
  program('kubeadm', `${windowsPaths.programs}\\kubeadm.exe`, 'version', '-o', 'short'),
  program('kube-proxy', `${windowsPaths.programs}\\kube-proxy.exe`, '--version'),
  // It has no version; usage is all that it says.
  { ...program('kube-log-runner', `${windowsPaths.programs}\\kube-log-runner.exe`, '--help'), exits: [1, 2] },
  program('nssm', `${windowsPaths.programs}\\nssm.exe`, 'version'),
];

const originOf = (url: string): ReachTarget => {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname, port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port) };
};

/** The registry of an image; names without one are Docker Hub's. */
function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]/.test(first) ? first : 'docker.io';
}

/** Where a registry is asked: at its first mirror, if it has one. */
function askedAt(registry: string, runtime: Inventory['runtime']): ReachTarget {
  const [mirror] = registrySettings(runtime, registry)?.mirrors ?? [];
  return originOf(mirror ?? `https://${registryServer(registry)}`);
}

/** Images of every Windows host: the pause image, and those of the network where it is pods. */
function imagesOf({ windows }: Inventory['network'], { windows: { pauseImage } }: WindowsHost): readonly string[] {
  if (windows === undefined || windows.services) return [pauseImage];
  return [pauseImage, windows.kubeProxyImage, ...(windows.mode === 'calico' ? [] : [windows.flannelImage])];
}

/** What a Windows host must be able to reach: the endpoint always, sources and registries where no proxy stands between. */
export function reachTargets(
  { endpoint, network, proxy, runtime }: Inventory,
  host: WindowsHost,
): readonly ReachTarget[] {
  const { downloads } = host.windows;
  const api = { host: endpointHost(endpoint), port: Number(endpoint.slice(endpoint.lastIndexOf(':') + 1)) };
  if (proxy !== undefined) return [api, originOf(proxy.https ?? proxy.http ?? '')];
  const site = network.windows?.services === true ? [downloads.network] : [];
  const sources =
    downloads.via === 'host'
      ? [downloads.kubernetes, downloads.containerd, downloads.crictl, ...site].map(originOf)
      : [];
  const registries = imagesOf(network, host).map((image) => askedAt(registryOf(image), runtime));
  const all = [api, ...sources, ...registries];
  return all.filter(({ host: name, port }, i) => all.findIndex((one) => one.host === name && one.port === port) === i);
}
