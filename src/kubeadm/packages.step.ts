import { dirname } from 'node:path/posix';
import { programVersion } from '../cluster/api-versions.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import { packages } from '../host/packages/packages.step.ts';
import { kubeletUnit } from '../host/packages/programs.step.ts';
import { packageRepository } from '../host/packages/repository.step.ts';
import { proxyDropIn, service } from '../host/service.step.ts';
import { paths } from '../paths.ts';

/** Configures the kubelet's proxy. */
export const kubeletProxy: Step = proxyDropIn('kubelet-proxy', paths.kubeletProxy);

const NAMES = ['kubelet', 'kubeadm', 'kubectl'] as const;

/** The version that a package of a host should have. */
const version = ({ inventory, facts, fleet }: Target, name: string): string =>
  programVersion(inventory, fleet.cluster, {
    hasJoined: hasKubelet(facts),
    installed: /^\d+\.\d+\.\d+/.exec(facts.packages.get(name)?.version ?? '')?.[0],
  });

/**
 * The kubelet as a service. Before kubeadm has run, the kubelet restarts in a loop by design. On a joined host it must
 * not be stopped. If it fails because of its configuration, other steps correct the configuration.
 */
export const kubeletService: Step = service('kubelet', {
  uses: [dirname(paths.kubeletProxy)],
  after: [kubeletProxy],
  wanted: (target) => (standing(target) === 'joined' ? 'started' : 'enabled'),
});

/** Installs and holds Kubernetes' packages from the pinned repository, at the cluster's exact version. */
export const kubernetesPackages: readonly Step[] = [
  ...packageRepository('kubernetes', ({ kubernetes }) => kubernetes.repository),
  kubeletProxy,
  packages(
    'kubernetes-packages',
    () => ({
      ...Object.fromEntries(NAMES.map((name) => [name, (target: Target) => version(target, name)])),
      'kubernetes-cni': 'any',
    }),
    {
      upgrades: 'held',
      optional: ({ helpers }, { osRelease }) => ['cri-tools', ...helpers(osRelease)],
      sources: ['kubernetes'],
    },
  ),
  ...kubeletUnit,
  kubeletService,
];
