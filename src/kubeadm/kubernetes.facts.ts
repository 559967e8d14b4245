import { basename } from 'node:path';
import { furtherFingerprints, spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { withEtcdFolder } from '../etcd/etcd.facts.ts';
import { textOf } from '../host/files.facts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { lines, numberOf, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';
import { markerOf } from './marker.facts.ts';

/**
 * Fingerprint of the cluster CA on the host (`sha256:` + hex of its public key, as kubeadm's discovery hash); `absent`.
 */
export const caFingerprint = textOf('/etc/kubernetes/pki/ca.crt', (pem) =>
  pem === 'absent' ? 'absent' : spkiFingerprint(pem),
);

/** Fingerprints of the further CAs in that file: there are some while the cluster CA is rotated. */
export const otherCas = textOf('/etc/kubernetes/pki/ca.crt', furtherFingerprints);

/**
 * The files of a kubeadm run that exist on the host. Without kube-vip's manifest, which kbuild writes before kubeadm
 * runs.
 */
export const kubernetesTraces = (inventory: Inventory) =>
  probeInPlace(
    withEtcdFolder(
      inventory,
      script('kubeadm/probe-kubernetes-traces.sh', { ETCD_DATA: paths.etcdData, KUBE_VIP: paths.kubeVipManifest }),
    ),
    (out): ReadonlySet<string> => new Set(lines(out)),
  );

/** What two facts read of the host's kubeconfig files. */
const kubeconfigs = script('kubeadm/probe-kubeconfigs.sh');

/** Name and server of the cluster in the host's kubeconfig files. Never reads their credentials. */
export const kubeconfigCluster = probeInPlace(
  kubeconfigs,
  (out): { readonly name: string; readonly server: string } | 'absent' => {
    if (out.trim() === '') return 'absent';
    const field = (name: string) => new RegExp(`^field \\S+ ${name}: *(.*)$`, 'm').exec(out)?.[1]?.trim() ?? '';
    return { name: field('name'), server: field('server') };
  },
);

/** A kubeconfig of a host. */
interface KubeconfigServer {
  /** The URL of its first cluster; empty if it has none. */
  readonly server: string;
  /** Time of the file's last change, ms since the epoch by the host's clock. */
  readonly changedMs: number;
}

/** The servers in the host's kubeconfig files, by the file's name: `kubelet.conf`. */
export const kubeconfigServers = probeInPlace(kubeconfigs, (out): ReadonlyMap<string, KubeconfigServer> => {
  const words = lines(out).map((line) => line.split(' '));
  const urls = words.flatMap(([kind, path = '', url = '']) => (kind === 'server' ? [[path, url] as const] : []));
  const servers = new Map(urls);
  return new Map(
    words.flatMap(([kind, path = '', changed]) => {
      if (kind !== 'file') return [];
      const server = (servers.get(path) ?? '').replaceAll('"', '');
      return [[basename(path), { server, changedMs: Math.round(numberOf(changed, 'time') * 1000) }] as const];
    }),
  );
});

/** The marker; `absent`, or `unreadable` when it is corrupt or from a newer kbuild. */
export const marker = textOf(paths.marker, markerOf);

/** The unit of the job that runs on the host; `none` if none does. */
export const runningJob = probeInPlace(
  // Runs systemctl only if the unit of a job exists: it takes longer than all file probes together.
  sh`set -- /run/systemd/transient/kbuild-job-*.service
     if [ -e "$1" ]; then systemctl list-units --plain --no-legend --no-pager --state=active,activating,deactivating 'kbuild-job-*.service'; fi`,
  (out) => lines(out)[0]?.trim().split(/\s+/)[0] ?? 'none',
);

/** True when the kubelet reports that it is healthy. */
export const kubeletHealthy = probeInPlace(
  script('kubeadm/probe-kubelet-health.sh'),
  (out) => out.trim() === 'healthy',
);

/**
 * True for each Service address, of API and DNS, that answers from this host; `absent` on a host that has not joined.
 */
export const serviceNetwork = (apiAddress: string, dnsAddress: string) =>
  probeInPlace(
    script('kubeadm/probe-service-network.sh', { API: apiAddress, DNS: dnsAddress }),
    (out): { readonly api: boolean; readonly dns: boolean } | 'absent' =>
      out.trim() === 'absent' ? 'absent' : { api: out.includes('api answers'), dns: out.includes('dns answers') },
  );

/**
 * Leftovers of network plugins and the kubelet on a host: `files`, which may contain `*`, and mounts below
 * /var/lib/kubelet as `mount PATH`.
 */
export const leftovers = (files: readonly string[]) =>
  probeInPlace(
    sh`for file in ${files}; do for path in $file; do if [ -e "$path" ] || [ -L "$path" ]; then echo "$path"; fi; done; done
     awk '$2 ~ "^/var/lib/kubelet/" { print "mount " $2 }' /proc/mounts`,
    (out) => lines(out),
  );

/** Signs on a host with a marker that it served before, or that its `kubeadm init` ended. */
interface ServedBefore {
  /** Files that are older than the marker: kubeadm made them before the action of the marker began. */
  readonly olderThanMarker: readonly string[];
  /**
   * True when the kubelet uses the certificate that it renews itself: kubeadm's init does that last but for the
   * add-ons.
   */
  readonly kubeletFinalized: boolean;
}

/** Signs that the host served before; empty on a host without a marker. */
export const servedBefore = (inventory: Inventory) =>
  probeInPlace(
    withEtcdFolder(inventory, script('kubeadm/probe-served-before.sh', { MARKER: paths.marker })),
    (out): ServedBefore => ({
      olderThanMarker: lines(out).flatMap((line) => (line.startsWith('older ') ? [line.slice('older '.length)] : [])),
      kubeletFinalized: lines(out).includes('finalized'),
    }),
  );
