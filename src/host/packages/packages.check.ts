import { type CheckGroup, eachHost } from '../../engine/check.ts';
import { RUNTIME_PACKAGES } from '../../runtime/runtime.check.ts';
import { knownDistribution, supportedDistribution, versionIn } from './distributions.value.ts';
import { getsBinaries } from './installer.value.ts';
import type { ReleaseLock } from './package-manager.value.ts';
import { endingDay } from './packages.facts.ts';

const packageLocks = eachHost(
  {
    name: 'package-locks',
    title: 'no other program holds a lock of the package manager',
    why:
      'Usually unattended-upgrades, or an installation by hand. `up` waits for it up to ten minutes; never ' +
      'delete the lock files.',
    severities: ['warning'],
  },
  ({ facts }) => {
    const holders = new Set(facts.packageLocks.map(({ process, pid }) => `${process} (process ${String(pid)})`));
    return [...holders].map((who) => ({
      severity: 'warning',
      message: `${who} holds a lock of the package manager; up would wait for it`,
    }));
  },
);

const packageManager = eachHost(
  {
    name: 'package-manager',
    title: 'no package is half installed',
    why: `The package manager installs nothing until an interrupted installation is finished. \`up\` does that first.`,
    severities: ['due'],
  },
  ({ facts }) => {
    const broken = facts.brokenPackages;
    if (broken.length === 0) return [];
    const found = broken.map(({ name, state }) => `${name} is ${state}`).join(', ');
    return [{ severity: 'due', message: `an installation of packages was cut off: ${found}` }];
  },
);

const remedyFor = ({ by }: ReleaseLock, open: string): string =>
  by.startsWith('/')
    ? `write ${open} into ${by} once the host may get newer packages`
    : 'subscription-manager release --unset, once the host may get newer packages';

const releaseLock = eachHost(
  {
    name: 'release-lock',
    title: "the system's repositories are not held at an old release",
    why:
      'A release that an operator has set in place of `$releasever` hides newer packages: container-selinux, ' +
      "conntrack-tools, on some systems the runtime and on EL 10 the kernel's modules are then in no repository " +
      'in a version that fits. The repositories of Kubernetes and of the runtime that kbuild sets up do not ' +
      'follow it. If the host keeps to its release on purpose, name the check in `ignoreChecks`.',
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

const signatures = eachHost(
  {
    name: 'signatures',
    title: 'hosts have cosign where the inventory requires signatures of published programs',
    why:
      'With `downloads.kubernetes.signatures: required` a host that gets binaries installs kubeadm, kubelet and ' +
      'kubectl only after cosign has verified who signed them ([binaries](binaries.md#signatures)). kbuild does ' +
      'not install cosign: what proves programs must not come the same way as they do.',
    severities: ['error'],
  },
  ({ inventory, host, facts }) =>
    host.role === 'load-balancer' ||
    inventory.downloads.kubernetes.signatures !== 'required' ||
    !getsBinaries({ host, facts }) ||
    facts.cosign
      ? []
      : [
          {
            severity: 'error',
            message: 'has no cosign, and the inventory requires signatures (downloads.kubernetes.signatures)',
            remedy: 'install cosign in a folder of the PATH of root, or set downloads.kubernetes.signatures: auto',
          },
        ],
);

const signingKeys = eachHost(
  {
    name: 'signing-keys',
    title: 'the signing keys of the package repositories are valid for more than 30 days',
    why:
      'The package manager installs nothing from a repository whose key has expired. Vendors extend a key under ' +
      'the same fingerprint, so `up` fetches a key again that has run out or has 30 days left or fewer. If it ' +
      'gets no newer copy, it keeps the old one and tries again a day later. If the inventory has the key as a ' +
      'file, put the newer copy there.',
    severities: ['warning'],
  },
  ({ facts }) =>
    [...facts.keyrings].flatMap(([path, { fingerprints, end }]) => {
      const day = endingDay(end, facts.nowMs);
      if (day === undefined) return [];
      const verb = (end as number) < facts.nowMs ? 'has run out' : 'runs out';
      return [
        {
          severity: 'warning' as const,
          message: `the signing key ${fingerprints.join(', ')} in ${path} ${verb} on ${day}`,
          remedy:
            'kbuild up fetches it again; if this stays, give a copy that the vendor has extended as repository.key',
        },
      ];
    }),
);

const systemRepositories = eachHost(
  {
    name: 'system-repositories',
    title: "repositories of the host's own system are enabled",
    why:
      'The repositories of the inventory hold Kubernetes and, for most systems, its runtime. What these need ' +
      "comes from the system's own: container-selinux, conntrack-tools, and on some systems the runtime itself. " +
      'A system that must be registered has none before that. A host on which the runtime is installed, and one ' +
      'with `installFrom: binaries`, is not checked.',
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
        message:
          `no repository of ${facts.osRelease.prettyName} is enabled, and packages that the container runtime ` +
          'needs come from there',
        remedy: distribution?.register ?? "enable the system's repositories",
      },
    ];
  },
);

export const packageChecks: CheckGroup = {
  host: [packageManager, packageLocks, systemRepositories, releaseLock, signingKeys, signatures],
};
