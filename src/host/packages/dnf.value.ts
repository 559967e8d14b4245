import { parse as parseToml } from 'smol-toml';
import { objectOf, objectsOf, textIn } from '../../shell/decode.ts';
import { lines, probeInPlace } from '../../shell/probe.ts';
import { script, using } from '../../templates.ts';
import { type PackageManager, parseLocks, transaction } from './package-manager.value.ts';
import {
  brokenRpm,
  enabledRepositories,
  IMPORTED_KEYS,
  isRpmVersion,
  lockLines,
  proxyUrl,
  queryRpmAndLocks,
  readRpm,
  rpmLists,
  rpmRepository,
  withRpm,
} from './rpm.value.ts';

/** Versions at which packages are locked, as `NAME-EPOCH:VERSION-RELEASE`. */
type LockedVersions = (out: string) => ReadonlySet<string>;

/** dnf 4: a line for each version, e.g. `kubelet-0:1.36.1-150500.1.1.*`; `!` excludes a version, `#` is a comment. */
const lockedInList: LockedVersions = (out) =>
  new Set(lockLines(out).flatMap((line) => /^([^#!].*?)(?:\.\*)?$/.exec(line)?.[1] ?? []));

/**
 * dnf5: a table for each package with its conditions, which all must hold. Its versions of before 5.4 write the epoch
 * 0, newer ones leave it out. dnf5 ignores a file of another version than 1.0.
 */
const lockedInToml: LockedVersions = (out) => {
  const { version, packages } = objectOf(parseToml(lockLines(out).join('\n')));
  if (version !== '1.0') return new Set();
  return new Set(
    objectsOf(packages).flatMap(({ name, conditions }) =>
      objectsOf(conditions).flatMap(({ key, comparator, value }) =>
        key === 'evr' && comparator === '=' ? [`${textIn(name)}-${textIn(value).replace(/^(?!\d+:)/, '0:')}`] : [],
      ),
    ),
  );
};

const repositoryFiles: PackageManager['repositoryFiles'] = (id) => ({
  source: `/etc/yum.repos.d/kbuild-${id}.repo`,
  keyring: `/etc/pki/rpm-gpg/RPM-GPG-KEY-kbuild-${id}`,
});

/** How one generation of dnf differs from the other. */
interface Generation {
  /** Its script of functions. */
  readonly functions: `${string}.sh`;
  readonly lockFile: string;
  readonly locked: LockedVersions;
  /** The holders of its locks. */
  readonly holders: PackageManager['locks'];
  readonly stateFolder: string;
}

/**
 * Releases by which an operator, the image or Red Hat's subscription manager has replaced `$releasever` (dnf.conf(5)).
 */
export const releaseLocks: NonNullable<PackageManager['releaseLocks']> = probeInPlace(
  script('host/packages/rpm/probe-release-locks.sh', { ROOT: '' }),
  (out) =>
    lines(out).flatMap((line) => {
      const [, release, by] = /^(\S+) (.+)$/.exec(line.trim()) ?? [];
      return release === undefined ? [] : [{ by: by!, release }];
    }),
);

/** A package that a version lock names with its installed version is held. */
const installedBy =
  ({ lockFile, locked }: Generation): PackageManager['installed'] =>
  (names) =>
    probeInPlace(queryRpmAndLocks(names, lockFile), (out) => {
      const held = locked(out);
      return new Map(
        readRpm(out).map(({ name, full, version }) => [
          name,
          { state: 'installed', version, held: held.has(`${name}-${full}`) },
        ]),
      );
    });

const managerOf = (generation: Generation): PackageManager => ({
  pick: ({ rpm }) => rpm,
  installed: installedBy(generation),
  broken: brokenRpm,
  locks: generation.holders,
  systemRepositories: enabledRepositories(['/etc/yum.repos.d/*.repo']),
  releaseLocks,
  isVersion: isRpmVersion,
  repositoryFiles,
  repository: (id, placed, route) =>
    rpmRepository(id, placed, route, repositoryFiles(id).keyring, {
      // An upgrade of the system does not see them, even if their locks are gone.
      ...(id === 'kubernetes' ? { exclude: 'kubelet kubeadm kubectl cri-tools kubernetes-cni' } : {}),
    }),
  lists: rpmLists,
  // dnf 4 reads no folder of drop-ins for dnf.conf, and that file is the administrator's.
  proxyFile: undefined,
  stateFolders: ['/var/lib/rpm', generation.stateFolder],
  install: (request) =>
    withRpm(
      using(
        generation.functions,
        transaction('host/packages/rhel/install-packages.sh', request, repositoryFiles, {
          PROXY: proxyUrl(request.proxy) ?? '',
          KEYS: IMPORTED_KEYS,
        }),
      ),
    ),
  release: (names) =>
    withRpm(
      using(
        generation.functions,
        script('host/packages/rhel/release-packages.sh', {
          NAMES: names,
          KEYS: IMPORTED_KEYS,
          SOURCES: '',
          PROXY: '',
        }),
      ),
    ),
  installHint: (name) => `dnf install ${name}`,
});

/** dnf 4. */
export const dnf: PackageManager = managerOf({
  functions: 'host/packages/rhel/dnf4.sh',
  lockFile: '/etc/dnf/plugins/versionlock.list',
  locked: lockedInList,
  holders: probeInPlace(script('host/packages/rhel/probe-locks.sh'), parseLocks),
  stateFolder: '/var/lib/dnf',
});

/** dnf5, which has its version locks, its cache and its locks elsewhere. */
export const dnf5: PackageManager = managerOf({
  functions: 'host/packages/rhel/dnf5.sh',
  lockFile: '/etc/dnf/versionlock.toml',
  locked: lockedInToml,
  holders: probeInPlace(
    script('host/packages/probe-locks-by-inode.sh', {
      FILES: [
        '/var/lib/dnf/system-repo.lock',
        '/usr/lib/sysimage/libdnf5/system-repo.lock',
        '/run/dnf/rpmtransaction.lock',
      ],
      // Reading the list of packages takes a lock that others share; it is no obstacle.
      KINDS: ['POSIX-ADVISORY-WRITE'],
    }),
    parseLocks,
  ),
  stateFolder: '/usr/lib/sysimage/libdnf5',
});
