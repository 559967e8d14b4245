import { knownDistribution, versionIn } from '../components/distributions/index.ts';
import type { ReleaseLock } from '../components/distributions/package-manager.ts';
import { eachHost } from './each-host.ts';

const remedyFor = ({ by }: ReleaseLock, open: string): string =>
  by.startsWith('/')
    ? `write ${open} into ${by} once the host may get newer packages`
    : 'subscription-manager release --unset, once the host may get newer packages';

export const releaseLock = eachHost(
  {
    name: 'release-lock',
    title: "the system's repositories are not held at an old release",
    why: "A release that an operator has set in place of `$releasever` hides newer packages: container-selinux, conntrack-tools, on some systems the runtime and on EL 10 the kernel's modules are then in no repository in a version that fits. The repositories of Kubernetes and of the runtime that kbuild sets up do not follow it. If the host keeps to its release on purpose, name the check in `ignoreChecks`.",
    severities: ['warning'],
  },
  ({ facts }) => {
    const distribution = knownDistribution(facts);
    // The version by which kbuild knows the system stands for all of its releases: 9 for 9.6.
    const open = distribution === undefined ? undefined : (distribution.openRelease ?? versionIn(distribution, facts));
    if (open === undefined) return [];
    return facts.releaseLocks
      .filter(({ release }) => release !== open)
      .map((lock) => ({
        severity: 'warning' as const,
        message: `its repositories are held at release ${lock.release} (${lock.by}): newer packages are hidden`,
        remedy: remedyFor(lock, open),
      }));
  },
);
