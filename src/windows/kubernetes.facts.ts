import { parse } from 'yaml';
import * as z from 'zod';
import { furtherFingerprints, spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { kubeletFlagsOf } from '../kubeadm/kubelet.facts.ts';
import { markerOf } from '../kubeadm/marker.facts.ts';
import { windowsPaths } from '../paths.ts';
import { type JsonObject, objectOf } from '../shell/decode.ts';
import { powershell } from '../templates.ts';
import { existing, textOf } from './files.facts.ts';
import { windowsProbe } from './probe.facts.ts';

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
