import { probe } from '../../shell/probe.ts';
import { script, using } from '../../templates.ts';
import { parseLocks, transaction, type PackageManager } from './package-manager.ts';
import {
  brokenRpm,
  enabledRepositories,
  IMPORTED_KEYS,
  isRpmVersion,
  lockLines,
  queryRpmAndLocks,
  readRpm,
  rpmLists,
  rpmRepository,
  withRpm,
} from './rpm.ts';

/** The settings of a lock of one whole package by its name; a lock with further ones holds some versions only. */
const WHOLE = new Set(['type', 'match_type', 'case_sensitive', 'solvable_name']);

/** Names of the packages that are locked in every version. A blank line separates two locks in /etc/zypp/locks. */
function lockedNames(out: string): ReadonlySet<string> {
  const blocks = lockLines(out)
    .join('\n')
    .split(/\n\s*\n/);
  return new Set(
    blocks.flatMap((block) => {
      const settings = new Map([...block.matchAll(/^(\w+):(.*)$/gm)].map(([, key, value]) => [key!, value!.trim()]));
      const isWhole = settings.get('type') === 'package' && [...settings.keys()].every((key) => WHOLE.has(key));
      const name = settings.get('solvable_name');
      return isWhole && name !== undefined ? [name] : [];
    }),
  );
}

const installed: PackageManager['installed'] = (names) =>
  probe(queryRpmAndLocks(names, '/etc/zypp/locks'), (out) => {
    const locked = lockedNames(out);
    return new Map(
      readRpm(out).map(({ name, version }) => [name, { state: 'installed', version, held: locked.has(name) }]),
    );
  });

const locks: PackageManager['locks'] = probe(script('suse/probe-locks.sh'), parseLocks);

const repositoryFiles: PackageManager['repositoryFiles'] = (id) => ({
  source: `/etc/zypp/repos.d/kbuild-${id}.repo`,
  keyring: `/etc/zypp/kbuild-${id}.asc`,
});

export const zypper: PackageManager = {
  pick: ({ rpm }) => rpm,
  installed,
  broken: brokenRpm,
  locks,
  systemRepositories: enabledRepositories(['/etc/zypp/repos.d/*.repo', '/etc/zypp/services.d/*.service']),
  isVersion: isRpmVersion,
  repositoryFiles,
  // kbuild refreshes it where it needs to; an upgrade of the system need not reach it.
  repository: (id, placed, route) =>
    rpmRepository(id, placed, route, repositoryFiles(id).keyring, { autorefresh: '0' }),
  lists: rpmLists,
  // The file with the proxy, /etc/sysconfig/proxy, is the administrator's.
  proxyFile: undefined,
  stateFolders: ['/var/lib/rpm', '/usr/lib/sysimage/rpm', '/var/lib/zypp'],
  install: (request) =>
    withRpm(
      using(
        'suse/zypper.sh',
        transaction('suse/install-packages.sh', request, repositoryFiles, {
          HTTP_PROXY_URL: request.proxy?.http ?? '',
          HTTPS_PROXY_URL: request.proxy?.https ?? '',
          NO_PROXY_HOSTS: request.proxy?.noProxy.join(',') ?? '',
          KEYS: IMPORTED_KEYS,
        }),
      ),
    ),
  release: (names) =>
    withRpm(
      using(
        'suse/zypper.sh',
        using(
          'linux/package-transaction.sh',
          script('suse/release-packages.sh', { NAMES: names, KEYS: IMPORTED_KEYS }),
        ),
      ),
    ),
  installHint: (name) => `zypper install ${name}`,
};
