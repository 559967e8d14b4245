/**
 * Where kbuild lives. `package.json` names the same (`test/docs/project.test.ts`). The address is a reserved one until
 * the project has its own: `npm run release` publishes nothing before.
 */
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
