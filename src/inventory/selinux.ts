import { UNCONFINED } from '../components/selinux.ts';
import { runtimeFileOf } from './levels.ts';
import type { InventoryFile } from './schema.ts';

/** kubeadm's static pods read keys and write etcd's data on the host, which SELinux forbids to ordinary containers. */
const STATIC_PODS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Sorts after the patch files of the inventory, so that none of them takes the type away by chance. */
const nameOf = (pod: (typeof STATIC_PODS)[number]): string => `${pod}zz-kbuild+merge.json`;

/**
 * Patch files for kubeadm (name → content) by which its static pods run unconfined, if SELinux confines containers on a host with
 * such pods. Where it does not, the type has no effect.
 */
export function selinuxPatches(file: InventoryFile): Readonly<Record<string, string>> {
  const hasSelinux = file.hosts.some(
    (host) => (host.role === 'control-plane' || host.role === 'etcd') && runtimeFileOf(file, host).selinux === true,
  );
  if (!hasSelinux) return {};
  const content = `${JSON.stringify({ spec: { securityContext: UNCONFINED } }, null, 2)}\n`;
  return Object.fromEntries(STATIC_PODS.map((pod) => [nameOf(pod), content]));
}
