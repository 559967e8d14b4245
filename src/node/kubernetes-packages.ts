import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import { hasKubelet } from '../facts/joined.ts';
import { paths } from '../paths.ts';
import { aptRepository } from '../resources/apt-repository.ts';
import { packages } from '../resources/packages.ts';
import { service } from '../resources/service.ts';
import { dirname } from 'node:path/posix';
import { kubeletProxy } from './proxy.ts';

const NAMES = ['kubelet', 'kubeadm', 'kubectl'] as const;

/**
 * The version that a host's packages should have. A host that has joined follows the cluster, so that a version edited
 * in the inventory never upgrades a kubelet by the way; while the cluster does not answer, what is installed stays.
 */
function version({ inventory, facts, fleet }: Target): string {
  if (!hasKubelet(facts)) return inventory.kubernetes.version;
  const { cluster } = fleet;
  return cluster.state === 'up' ? cluster.version : 'any';
}

/** Kubernetes' packages from the pinned repository, at the cluster's exact version and held. */
export const kubernetesPackages: readonly Step[] = [
  ...aptRepository('kubernetes-repository', {
    repository: ({ inventory }) => inventory.kubernetes.repository,
    keyring: paths.kubernetesKeyring,
    source: paths.kubernetesSource,
  }),
  kubeletProxy,
  packages(
    'kubernetes-packages',
    (target) => ({ ...Object.fromEntries(NAMES.map((name) => [name, version(target)])), 'kubernetes-cni': 'any' }),
    { upgrades: 'held', optional: ['cri-tools'], sources: [paths.kubernetesSource] },
  ),
  // Until kubeadm has run, the kubelet restarts in a loop by design. On a host that has joined it must not be stopped;
  // one that does not stay up for its configuration is mended by the steps about that.
  service('kubelet', {
    uses: [dirname(paths.kubeletProxy)],
    after: [kubeletProxy],
    wanted: (target) => (standing(target) === 'joined' ? 'started' : 'enabled'),
  }),
];
