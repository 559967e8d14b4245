import { parse } from 'yaml';
import * as z from 'zod';
import { furtherFingerprints, spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { endpointHost, endpointParts } from '../inventory/addresses.ts';
import type { Inventory, WindowsHost } from '../inventory/inventory.ts';
import { kubeletFlagsOf } from '../kubeadm/kubelet.facts.ts';
import { markerOf } from '../kubeadm/marker.facts.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { windowsPaths } from '../paths.ts';
import { registryServer, registrySettings } from '../runtime/registries.value.ts';
import { type JsonObject, objectOf } from '../shell/decode.ts';
import { powershell } from '../templates.ts';
import { existing, textOf, windowsProbe } from './files.facts.ts';
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
  const api = { host: endpointHost(endpoint), port: endpointParts(endpoint)?.port ?? 443 };
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

/** Files that `kubeadm join` writes, as kubeadm spells them. */
const TRACES = [
  '/etc/kubernetes/kubelet.conf',
  '/etc/kubernetes/bootstrap-kubelet.conf',
  '/etc/kubernetes/pki/ca.crt',
  '/var/lib/kubelet/config.yaml',
  '/var/lib/kubelet/pki/kubelet-client-current.pem',
] as const;

const onDrive = (path: string): string => `C:${path.replaceAll('/', '\\')}`;

const traces = existing(TRACES.map(onDrive));

/** The files of a `kubeadm join` that exist, by their paths on Linux. */
export const kubernetesTraces = {
  ...traces,
  parse: (...answer: Parameters<typeof traces.parse>): ReadonlySet<string> => {
    const found = traces.parse(...answer);
    return new Set(TRACES.filter((path) => found.has(onDrive(path))));
  },
};

/** Fingerprint of the cluster's CA certificate on the host; `absent` if the file does not exist. */
export const caFingerprint = textOf(onDrive('/etc/kubernetes/pki/ca.crt'), (pem) =>
  pem === 'absent' ? 'absent' : spkiFingerprint(pem),
);

/** Fingerprints of the further CAs in that file: there are some while the cluster CA is rotated. */
export const otherCas = textOf(onDrive('/etc/kubernetes/pki/ca.crt'), furtherFingerprints);

/** Name and server of the cluster in the kubelet's kubeconfig; `absent` if the file does not exist. */
export const kubeconfigCluster = windowsProbe(
  powershell('windows/probe-kubeconfig.ps1', { Path: windowsPaths.kubeletConf }),
  z.object({ present: z.boolean(), lines: z.array(z.string()) }),
  ({ present, lines }): { readonly name: string; readonly server: string } | 'absent' => {
    if (!present) return 'absent';
    const field = (name: string) =>
      lines.map((line) => new RegExp(`^\\s*-?\\s*${name}:\\s*(.*?)\\s*$`).exec(line)?.[1]).find((value) => value) ?? '';
    return { name: field('cluster'), server: field('server') };
  },
);

/** The marker; `absent` if none exists, `unreadable` if it is corrupt or a newer kbuild wrote it. */
export const marker = textOf(windowsPaths.marker, markerOf);

/** The kubelet's arguments that kubeadm wrote (`--name=value`); `absent` on a host that has not joined. */
export const kubeletFlags = textOf(windowsPaths.kubeletFlags, kubeletFlagsOf);

/** The kubelet's configuration file as kubeadm wrote it; `absent` on a host that has not joined. */
export const kubeletConfig = textOf(windowsPaths.kubeletConfig, (text): JsonObject | 'absent' =>
  text === 'absent' ? 'absent' : objectOf(parse(text) ?? {}),
);

/** True if the kubelet's health endpoint reports healthy. */
export const kubeletHealthy = windowsProbe(
  powershell('windows/probe-kubelet-health.ps1'),
  z.object({ healthy: z.boolean() }),
  ({ healthy }) => healthy,
);

const pipe = existing([windowsPaths.containerdPipe]);

/** True if containerd's named pipe exists, which means that containerd listens. */
export const runtimeListens = {
  ...pipe,
  parse: (...answer: Parameters<typeof pipe.parse>): boolean => pipe.parse(...answer).size > 0,
};
