/** Where kbuild lives. A reserved address until the project has its own. `package.json` names the same. */
export const REPOSITORY: string = 'https://example.com/kbuild/kbuild';

/** Where bugs are reported. */
export const BUGS: string = `${REPOSITORY}/issues`;

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
