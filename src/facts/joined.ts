import { paths } from '../paths.ts';
import type { LinuxFacts } from './linux.ts';

/**
 * True once the host has a kubelet that runs something, which kubeadm or, on a host of role etcd, kbuild gave it: from then
 * on the kubelet decides what runs there.
 */
export const hasKubelet = ({ kubernetesTraces }: Pick<LinuxFacts, 'kubernetesTraces'>): boolean =>
  kubernetesTraces.has('/etc/kubernetes/kubelet.conf') || kubernetesTraces.has(paths.etcdManifest);
