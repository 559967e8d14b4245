const NAMESPACE = 'kube-system';

/** The objects that kubeadm itself creates in a cluster, by identity. */
export const KUBEADMS_PROGRAMS = [
  { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'kube-proxy', namespace: NAMESPACE } },
  { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'coredns', namespace: NAMESPACE } },
] as const;
