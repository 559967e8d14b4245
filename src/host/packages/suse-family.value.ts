import { lines, probeInPlace } from '../../shell/probe.ts';
import { script } from '../../templates.ts';
import { chronyIncluded } from './chrony.value.ts';
import type { Distribution, Family, OsRelease } from './distribution.value.ts';
import { type PackageManager, parseLocks, transaction } from './package-manager.value.ts';
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
} from './rpm.value.ts';

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
  probeInPlace(queryRpmAndLocks(names, '/etc/zypp/locks'), (out) => {
    const locked = lockedNames(out);
    return new Map(
      readRpm(out).map(({ name, version }) => [name, { state: 'installed', version, held: locked.has(name) }]),
    );
  });

const locks: PackageManager['locks'] = probeInPlace(script('host/packages/suse/probe-locks.sh'), parseLocks);

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
    transaction('host/packages/suse/install-packages.sh', request, repositoryFiles, {
      HTTP_PROXY_URL: request.proxy?.http ?? '',
      HTTPS_PROXY_URL: request.proxy?.https ?? '',
      NO_PROXY_HOSTS: request.proxy?.noProxy.join(',') ?? '',
      KEYS: IMPORTED_KEYS,
    }),
  release: (names) => script('host/packages/suse/release-packages.sh', { NAMES: names, KEYS: IMPORTED_KEYS }),
  installHint: (name) => `zypper install ${name}`,
};

/** From version 16 on, systems of SUSE have SELinux instead of AppArmor. A rolling one has a date as its version. */
const hasSelinux = ({ versionId }: OsRelease): boolean => Number.parseInt(versionId, 10) >= 16;

/** What openSUSE and SUSE Linux Enterprise share. */
const suseFamily: Family = {
  family: 'suse',
  packages: zypper,
  // Docker has no repository for them. openSUSE packs containerd's client apart, as containerd-ctr.
  systemRuntimes: { containerd: ['containerd', 'containerd-ctr'] },
  lacks: ['docker'],
  programFolder: '/usr/local/bin',
  trustStore: { folder: '/etc/pki/trust/anchors', extension: 'pem', update: 'update-ca-certificates' },
  // The package chrony-pool-* puts the pool of the distribution there, too.
  chrony: chronyIncluded('chronyd', '/etc/chrony.conf', '/etc/chrony.d'),
  downloader: 'host/packages/download-with-curl.sh',
  kubeletArguments: '/etc/sysconfig/kubelet',
  pendingReboot: probeInPlace(script('host/packages/suse/probe-reboot.sh'), (out) =>
    out.startsWith('pending') ? lines(out).slice(1) : 'none',
  ),
  toolPackages: {
    mount: 'util-linux',
    losetup: 'util-linux',
    cp: 'coreutils',
    ip: 'iproute2',
    ss: 'iproute2',
    modprobe: 'kmod',
    flock: 'util-linux',
    'systemd-run': 'systemd',
    bash: 'bash',
    getent: 'glibc',
  },
  // None of Kubernetes' rpm packages has needed them since 2025-09 (kubernetes/release#4106), iptables since 2026-09
  // (#4518).
  helpers: (release) => [
    ...['conntrack-tools', 'iproute2', 'iptables', 'ethtool', 'socat'],
    ...(hasSelinux(release) ? ['container-selinux'] : []),
  ],
  placeholders: ({ id, versionId }) => ({ distribution: id, codename: versionId }),
};

/** A system whose root is a snapshot that cannot be written. */
const ofSnapshots = (id: string, name: string): Distribution => ({
  ...suseFamily,
  id,
  name,
  versions: 'rolling',
  support: 'known',
  refusal: 'its packages go into a new snapshot of a read-only system (transactional-update), and work after a restart',
});

/** openSUSE and SUSE Linux Enterprise. Days by endoflife.date. */
export const suseSystems: readonly Distribution[] = [
  {
    ...suseFamily,
    id: 'opensuse-leap',
    name: 'openSUSE Leap',
    versions: ['16.0'],
    ends: { '16.0': '2027-10-31' },
    ended: { '15.6': '2026-04-30' },
    support: 'supported',
  },
  { ...suseFamily, id: 'opensuse-tumbleweed', name: 'openSUSE Tumbleweed', versions: 'rolling', support: 'supported' },
  {
    ...suseFamily,
    id: 'sles',
    name: 'SUSE Linux Enterprise Server',
    versions: ['15.7', '16.0'],
    ends: { '15.7': '2031-07-31', '16.0': '2027-11-30' },
    ended: { '15.6': '2025-12-31' },
    register: 'register the host: SUSEConnect --regcode CODE; 15 also needs the module sle-module-containers',
    support: 'supported',
  },
  ofSnapshots('opensuse-microos', 'openSUSE MicroOS'),
  ofSnapshots('sl-micro', 'SUSE Linux Micro'),
  ofSnapshots('sle-micro', 'SUSE Linux Enterprise Micro'),
  ofSnapshots('suse-microos', 'SUSE MicroOS'),
];
