import { probe, lines } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import { script, using } from '../../templates.ts';
import { parseLocks, transaction, type PackageManager } from './package-manager.ts';
import {
  brokenRpm,
  enabledRepositories,
  IMPORTED_KEYS,
  isRpmVersion,
  proxyUrl,
  queryRpm,
  readRpm,
  rpmLists,
  rpmRepository,
  withRpm,
} from './rpm.ts';

/** A package that `dnf versionlock` lists with this name and version is held: `kubelet-0:1.36.1-150500.1.1.*`. */
const installed: PackageManager['installed'] = (names) =>
  probe(
    using(queryRpm(names), sh`sed -n 's/^[^#!]/lock &/p' /etc/dnf/plugins/versionlock.list 2>/dev/null || true`),
    (out) => {
      const held = new Set(lines(out).flatMap((line) => /^lock (.*?)(?:\.\*)?$/.exec(line)?.[1] ?? []));
      return new Map(
        readRpm(out).map(({ name, full, version }) => [
          name,
          { state: 'installed', version, held: held.has(`${name}-${full}`) },
        ]),
      );
    },
  );

const locks: PackageManager['locks'] = probe(script('rhel/probe-locks.sh'), parseLocks);

const repositoryFiles: PackageManager['repositoryFiles'] = (id) => ({
  source: `/etc/yum.repos.d/kbuild-${id}.repo`,
  keyring: `/etc/pki/rpm-gpg/RPM-GPG-KEY-kbuild-${id}`,
});

export const dnf: PackageManager = {
  pick: ({ rpm }) => rpm,
  installed,
  broken: brokenRpm,
  locks,
  systemRepositories: enabledRepositories(['/etc/yum.repos.d/*.repo']),
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
  stateFolders: ['/var/lib/rpm', '/var/lib/dnf'],
  install: (request) =>
    withRpm(
      transaction('rhel/install-packages.sh', request, repositoryFiles, {
        PROXY: proxyUrl(request.proxy) ?? '',
        KEYS: IMPORTED_KEYS,
      }),
    ),
  release: (names) => withRpm(script('rhel/release-packages.sh', { NAMES: names, KEYS: IMPORTED_KEYS })),
  installHint: (name) => `dnf install ${name}`,
};
