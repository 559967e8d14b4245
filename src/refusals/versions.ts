/** Versions and upgrades. */
export const versionPages = {
  downgrade: {
    title: 'kubernetes.version is older than what the cluster runs',
    why: 'Kubernetes has no downgrade, not even to an older patch. Set the version to what runs, or to a newer one.',
  },
  'unknown-version': {
    title: 'this kbuild does not know a minor of Kubernetes on the way',
    why: 'Name a minor that it knows, or use a newer kbuild.',
  },
  'version-unpublished': {
    title: 'the repository has no packages of a minor on the way, or cannot list them',
    why: 'An upgrade takes every minor. Name the version with `kubernetes.via`, or mirror the packages.',
  },
  'minors-apart': {
    title: 'components would be, or are, further apart than Kubernetes supports',
    why: 'API servers may be one minor apart, and kubelets three minors older and never newer. Upgrade the oldest first, and all control planes in one run.',
  },
  'upgrade-unfinished': {
    title: 'an upgrade is half done',
    why: 'The change would be mixed with it. Finish it with `kbuild upgrade` and the version that the message names.',
  },
  'etcd-copy-space': {
    title: 'there is too little space for the copy of etcd that kubeadm makes before it exchanges etcd',
    why: 'The upgrade would stop in the middle. Make room on the volume that the message names.',
  },
  'etcd-too-old': {
    title: 'etcd is older than the next Kubernetes needs',
    why: 'Upgrade etcd first, one member at a time, or take the tag that keeps it old out of the inventory.',
  },
  'runtime-misfit': {
    title: 'the container runtime does not fit a version of Kubernetes on the way',
    why: 'The kubelet would not start. Change `runtime.version`.',
  },
  'cgroup-v1': {
    title: 'a host runs on cgroup v1, with which the next kubelet does not start',
    why: 'Boot it with cgroup v2, or accept v1 in the inventory.',
  },
  'cgroup-driver-unfinished': {
    title: 'pods of a host still run by another cgroup driver',
    why: 'Finish the change with `kbuild up`, or set `runtime.cgroupDriver` back.',
  },
  'removed-api': {
    title: 'the next Kubernetes cannot read objects of an API',
    why: 'They would stay in etcd where nothing can read or delete them. Delete them when you know what they are for ([docs/upgrade-removed.md](upgrade-removed.md)).',
  },
  'removed-setting': {
    title: 'a setting is in use that the next Kubernetes does not know',
    why: 'The component would not start. The message says where it stands and what takes its place ([docs/upgrade-removed.md](upgrade-removed.md)).',
  },
} as const;
