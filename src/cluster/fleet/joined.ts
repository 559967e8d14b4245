import { ADMIN_CONF } from '../../inventory/api-server.ts';
import { paths } from '../../paths.ts';
import type { LinuxFacts } from './linux.ts';

/**
 * True once the host has a kubelet that runs something, which kubeadm or, on a host of role etcd, kbuild gave it: from
 * then on the kubelet decides what runs there.
 */
export const hasKubelet = ({ kubernetesTraces }: Pick<LinuxFacts, 'kubernetesTraces'>): boolean =>
  kubernetesTraces.has('/etc/kubernetes/kubelet.conf') || kubernetesTraces.has(paths.etcdManifest);

/** True once kubeadm gave the host an API server and a kubelet that runs it. */
export const hasControlPlane = (traces: ReadonlySet<string>): boolean =>
  traces.has('/etc/kubernetes/kubelet.conf') && traces.has('/etc/kubernetes/manifests/kube-apiserver.yaml');

/**
 * True for a control plane on which kubeadm came to its end, also where the administrator's kubeconfig was lost since.
 */
export const isControlPlane = (traces: ReadonlySet<string>): boolean =>
  traces.has(ADMIN_CONF) || hasControlPlane(traces);
