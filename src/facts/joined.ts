import type { LinuxFacts } from './linux.ts';

/** True once kubeadm has given the host a kubelet: from then on the kubelet decides what runs there. */
export const hasKubelet = ({ kubernetesTraces }: Pick<LinuxFacts, 'kubernetesTraces'>): boolean =>
  kubernetesTraces.has('/etc/kubernetes/kubelet.conf');
