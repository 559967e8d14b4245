import { readFileSync } from 'node:fs';

/** Where kbuild lives. A reserved address until the project has its own. `package.json` names the same. */
export const REPOSITORY: string = 'https://example.com/kbuild/kbuild';

/** Where bugs are reported. */
export const BUGS: string = `${REPOSITORY}/issues`;

/** A page of the documentation, or a section of it, for messages: who has only the program has no folder `docs`. */
export const docsPage = (page: string): string => `${REPOSITORY}/blob/main/docs/${page}`;

/** What the package is found by. */
export const KEYWORDS: readonly string[] = [
  'kubernetes',
  'kubeadm',
  'cluster',
  'bare-metal',
  'on-premises',
  'ssh',
  'etcd',
];

/** kbuild's own version, by its package. */
export const ownVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string })
    .version;

/** What kbuild knows about one Kubernetes minor. */
interface MinorFacts {
  /** Tags of the images that kubeadm asks for (its constants.go, first release of the minor). Patch releases may raise
   * those of etcd and CoreDNS: what counts on a host is `kubeadm config images list`. */
  readonly images: { readonly pause: string; readonly etcd: string; readonly coredns: string };
}

const MINORS: Readonly<Record<string, MinorFacts>> = {
  '1.34': {
    images: { pause: '3.10.1', etcd: '3.6.4-0', coredns: 'v1.12.1' },
  },
  '1.35': {
    images: { pause: '3.10.1', etcd: '3.6.6-0', coredns: 'v1.13.1' },
  },
  '1.36': {
    images: { pause: '3.10.2', etcd: '3.6.8-0', coredns: 'v1.14.2' },
  },
  '1.37': {
    images: { pause: '3.10.2', etcd: '3.7.0-0', coredns: 'v1.14.6' },
  },
};

/** Kubernetes minors that this kbuild builds, oldest first. */
export const supportedMinors: readonly string[] = Object.keys(MINORS);

/** What is known about a minor; undefined when kbuild does not support it. */
export const minorFacts = (minor: string): MinorFacts | undefined => MINORS[minor];

/** `1.36.3` → `1.36`. */
export const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');

/** `1.36.3` or `1.36` → 36. */
export const minorNumber = (version: string): number => Number(version.split('.')[1]);

/** The version in a text like `v1.36.3` or `1.36.3-1.1`; undefined where there is none. */
export const versionIn = (text: string | undefined): string | undefined =>
  /\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(text ?? '')?.[0];

/** A version without `v` and without suffixes: `1.36.3` of `v1.36.3+k3s1`. */
export const releaseOf = (version: string): string => version.replace(/^v/, '').split(/[-+]/, 1)[0]!;

/** Kubernetes, "Version Skew Policy": a kubelet may be that many minors older than the API server. */
export const KUBELET_MINORS_BEHIND = 3;

/** Negative when `a` is older than `b`, positive when it is newer, 0 when equal; numbers and dots only. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The Kubernetes that `kbuild init` proposes: of the newest minor, the release that kbuild's own tests build. */
export const NEWEST_KUBERNETES = '1.37.1';

/** The Kubernetes of examples in messages. */
export const PROPOSED_KUBERNETES = '1.36.3';
