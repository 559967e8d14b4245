import { dirname } from 'node:path/posix';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { paths } from '../paths.ts';

/** Files of a host that some step owns. A step that asks for another path is a bug that says so. */
export const watchedPaths = (inventory: Inventory, host: LinuxHost): readonly string[] => [
  ...new Set([
    ...Object.values(paths).filter(
      (path) =>
        path.startsWith('/etc/') &&
        path !== paths.aptSources &&
        path !== paths.aptKeyrings &&
        path !== paths.certsD &&
        path !== paths.kubeadmPatches,
    ),
    dirname(paths.containerdProxy),
    dirname(paths.kubeletProxy),
    '/etc/hosts',
    '/etc/fstab',
    '/var/lib/kubelet/config.yaml',
    '/var/lib/kubelet/kubeadm-flags.env',
    ...inventory.files.filter(({ hosts }) => hosts.includes(host.name)).map(({ path }) => path),
  ]),
];

/** Folders that kbuild owns whole: every file in them is observed. */
export const watchedTrees: readonly string[] = [paths.certsD, paths.kubeadmPatches];

/** Key files of package repositories. */
export const watchedKeyrings: readonly string[] = [paths.kubernetesKeyring, paths.containerdKeyring];

/** Units that some step owns. */
export const watchedUnits: readonly string[] = ['containerd', 'kubelet', 'haproxy', 'keepalived', 'kbuild-firewall'];

/** Packages that bring containerd: Docker's and the distribution's. */
export const CONTAINERD_PACKAGES: readonly string[] = ['containerd.io', 'containerd'];

/** Packages that some step owns. */
export const watchedPackages = (inventory: Inventory): readonly string[] => [
  ...new Set([inventory.runtime.package, ...CONTAINERD_PACKAGES]),
  'kubelet',
  'kubeadm',
  'kubectl',
  'kubernetes-cni',
  'cri-tools',
  'ca-certificates',
  'haproxy',
  'keepalived',
  'curl',
];
