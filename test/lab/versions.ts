/**
 * The Kubernetes versions that the lab has packages and images of, with what kubeadm of that version asks for. The
 * repository of one of them has cri-tools, so that hosts with crictl and hosts without are both there.
 */
export const KUBERNETES = [
  { version: '1.36.3', minor: '1.36', etcd: '3.6.8', coredns: '1.14.2', criTools: undefined },
  { version: '1.37.1', minor: '1.37', etcd: '3.7.0', coredns: '1.14.6', criTools: '1.37.0' },
] as const;

/** One of them. */
export type KubernetesVersion = (typeof KUBERNETES)[number];

/** The Debian releases that hosts can be of, the default first. */
export const RELEASES = ['bookworm', 'trixie'] as const;
export type Release = (typeof RELEASES)[number];

/** Other things' versions. */
export const VERSIONS = {
  cniPlugins: '1.9.1',
  containerd: '2.2.9',
  flannel: '0.28.10',
  flannelCniPlugin: '1.9.1-flannel1',
  pause: '3.10.2',
  agnhost: '2.53',
} as const;

/** The Go that the newest of them needs, the first that fetches another one by itself, and one to install: major, minor, patch. */
export const GO = { needed: [1, 26, 0], fetches: [1, 21, 0], toInstall: '1.26.8' } as const;
