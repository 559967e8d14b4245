const CURRENT = [
  { version: '1.36.3', minor: '1.36', etcd: '3.6.8', coredns: '1.14.2', criTools: undefined, pause: '3.10.2' },
  { version: '1.37.1', minor: '1.37', etcd: '3.7.0', coredns: '1.14.6', criTools: '1.37.0', pause: '3.10.2' },
] as const;

/** Versions that a chain of upgrades goes through, and a second patch of a minor: another 20 minutes to build, so only where KBUILD_LAB_VERSIONS=all asks. */
const OLDER = [
  { version: '1.34.4', minor: '1.34', etcd: '3.6.5', coredns: '1.12.1', criTools: undefined, pause: '3.10.1' },
  { version: '1.35.8', minor: '1.35', etcd: '3.6.6', coredns: '1.13.1', criTools: undefined, pause: '3.10.1' },
  { version: '1.36.4', minor: '1.36', etcd: '3.6.8', coredns: '1.14.2', criTools: undefined, pause: '3.10.2' },
] as const;

/** A version of each minor that only OLDER has. */
export const OF_OLDER_MINORS: readonly string[] = OLDER.flatMap(({ version, minor }) =>
  CURRENT.some((one) => one.minor === minor) ? [] : [version],
);

/** One of them. */
export type KubernetesVersion = (typeof CURRENT)[number] | (typeof OLDER)[number];

/**
 * The Kubernetes versions that the lab has packages and images of, with what kubeadm of that version asks for. The
 * repository of one of them has cri-tools, so that hosts with crictl and hosts without are both there.
 */
export const KUBERNETES: readonly [(typeof CURRENT)[0], (typeof CURRENT)[1], ...KubernetesVersion[]] =
  process.env['KBUILD_LAB_VERSIONS'] === 'all' ? [...CURRENT, ...OLDER] : CURRENT;

/** What names a repository with one version: its minor, or where an earlier one of the same minor has that name the whole version. */
export const repositoryName = ({ version, minor }: Pick<KubernetesVersion, 'version' | 'minor'>): string =>
  [...CURRENT, ...OLDER].find((one) => one.minor === minor)?.version === version ? minor : version;

/** The lab's version of a minor; of several, the one that most tests have. @throws TypeError for a minor that it has not built */
export function versionOf(minor: string): string {
  const [found] = versionsIn(minor);
  if (found === undefined) throw new TypeError(`the lab has no Kubernetes ${minor}: set KBUILD_LAB_VERSIONS=all`);
  return found;
}

const versionsIn = (minor: string): readonly string[] =>
  KUBERNETES.flatMap((one) => (one.minor === minor ? [one.version] : []));

/** The lab's newest version of a minor. @throws as `versionOf` */
export function newestOf(minor: string): string {
  const patch = (version: string): number => Number(version.split('.')[2]);
  return versionsIn(minor).toSorted((a, b) => patch(b) - patch(a))[0] ?? versionOf(minor);
}

/**
 * The etcd between 3.6.8 and 3.7.0. kbuild asks for the image 3.6.11-0; of the patches from 3.6.11 on, the lab can build this
 * one alone, so the image of that tag holds it.
 */
export const ETCD_BETWEEN = { tag: '3.6.11-0', built: '3.6.16' } as const;

/** Other things' versions. */
export const VERSIONS = {
  cniPlugins: '1.9.1',
  containerd: '2.2.9',
  crio: '1.36.1',
  crictl: '1.36.0',
  /** Docker Engine of Debian 13: Docker's own packages cannot be had here. */
  docker: '26.1.5',
  /** The newest that the module proxy has. */
  criDockerd: '0.4.3',
  flannel: '0.28.10',
  flannelCniPlugin: '1.9.1-flannel1',
  agnhost: '2.53',
  /** Newer ones cannot be built here: the checksum database does not have them. */
  kubeVip: '0.9.1',
  /** A tag alone: its module cannot be had. */
  kubeVipProvider: '0.0.12',
  helm: '3.19.0',
  /** The newest whose modules can be had. */
  cilium: '1.19.5',
  /**
   * The newest of which Go's proxy has a module with everything in it, and the newest operator, which asks for images of a newer tag: the
   * lab's have that tag.
   */
  /** `frrK8s`: the newest of what its go.mod names that can be had. */
  metallb: { version: '0.16.2', frrK8s: 'v0.0.26' },
  calico: {
    programs: '3.28.5',
    module: 'v1.11.0-cni-plugin.0.20250813170300-a0db560f0520',
    api: 'v0.0.0-20240708202104-e3f70b269c2c',
    operator: '1.36.5',
    tag: '3.29.2',
  },
} as const;

/** An older patch of the lab's containerd, that one, and a newer minor: what a change of its version goes through. Made when a test asks. */
export const CONTAINERD_VERSIONS = ['2.2.8', VERSIONS.containerd, '2.3.7'] as const;

/** The one minor of Kubernetes for which the lab has CRI-O. */
export const CRIO_MINOR = '1.36';

/** The Go that the newest of them needs, the first that fetches another one by itself, and one to install: major, minor, patch. */
export const GO = { needed: [1, 26, 0], fetches: [1, 21, 0], toInstall: '1.26.8' } as const;
