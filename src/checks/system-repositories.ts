import { supportedDistribution } from '../components/distributions/index.ts';
import { getsBinaries } from '../components/programs/installer.ts';
import { eachHost } from './each-host.ts';
import { RUNTIME_PACKAGES } from './runtime-version.ts';

export const systemRepositories = eachHost(
  {
    name: 'system-repositories',
    title: "repositories of the host's own system are enabled",
    why: "The repositories of the inventory hold Kubernetes and, for most systems, its runtime. What these need comes from the system's own: container-selinux, conntrack-tools, and on some systems the runtime itself. A system that must be registered has none before that. A host on which the runtime is installed, and one with `installFrom: binaries`, is not checked.",
    severities: ['error'],
    watches: { packages: RUNTIME_PACKAGES },
  },
  ({ host, facts }) => {
    if (host.role === 'load-balancer' || getsBinaries({ host, facts })) return [];
    if (facts.systemRepositories?.length !== 0) return [];
    if (RUNTIME_PACKAGES.some((name) => facts.packages.get(name)?.state === 'installed')) return [];
    const distribution = supportedDistribution(facts);
    return [
      {
        severity: 'error',
        message: `no repository of ${facts.osRelease.prettyName} is enabled, and packages that the container runtime needs come from there`,
        remedy: distribution?.register ?? "enable the system's repositories",
      },
    ];
  },
);
