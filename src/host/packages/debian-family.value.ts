import { lines, probeInPlace } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';
import { chronySources } from './chrony.value.ts';
import type { Distribution, Family } from './distribution.value.ts';
import { type PackageManager, parseLocks, type Route, transaction } from './package-manager.value.ts';

const installed: PackageManager['installed'] = (names) =>
  probeInPlace(
    sh`dpkg-query -W -f '\${Package} \${Version} \${Status}\n' ${names} 2>/dev/null || true`,
    (out) =>
      new Map(
        lines(out).flatMap((line) => {
          const [name, version, want, , state] = line.split(' ');
          if (state === 'not-installed' || state === 'config-files') return [];
          return [
            [
              name!,
              { state: state === 'installed' ? 'installed' : 'half', version: version!, held: want === 'hold' },
            ] as const,
          ];
        }),
      ),
  );

/** By status, because `dpkg --audit` also complains for good about packages that were built without checksums. */
const broken: PackageManager['broken'] = probeInPlace(
  sh`dpkg-query -W -f '\${db:Status-Status} \${db:Status-Eflag} \${Package}\n'`,
  (out) =>
    lines(out).flatMap((line) => {
      const [status, error, name] = line.split(' ');
      // dpkg was killed over the package: its files may be anything.
      if (error === 'reinstreq') return [{ name: name!, state: 'reinst-required' }];
      return /^(?:installed|config-files|not-installed)$/.test(status!) ? [] : [{ name: name!, state: status! }];
    }),
);

const lockHolders = script('host/packages/probe-locks-by-inode.sh', {
  FILES: ['/var/lib/dpkg/lock-frontend', '/var/lib/dpkg/lock', '/var/lib/apt/lists/lock'],
  KINDS: ['POSIX-*', 'OFDLCK-*', 'FLOCK-*'],
});

const locks: PackageManager['locks'] = probeInPlace(lockHolders, (out) =>
  // The script finds holders by inode, which is unique on one file system only: other programs are left out by name.
  parseLocks(out).filter(({ process }) =>
    /apt|dpkg|unattended|aptitude|packagekit|synaptic|python|perl/i.test(process),
  ),
);

/** apt knows no NO_PROXY with networks and domains, so each direct host has its own lines. */
function proxyConfig({ proxy, direct }: Route): string | undefined {
  if (proxy === undefined) return undefined;
  const settings = [
    ...(proxy.http === undefined ? [] : [`Acquire::http::Proxy "${proxy.http}";`]),
    ...(proxy.https === undefined ? [] : [`Acquire::https::Proxy "${proxy.https}";`]),
    ...direct.flatMap((host) => [
      `Acquire::http::Proxy::${host} "DIRECT";`,
      `Acquire::https::Proxy::${host} "DIRECT";`,
    ]),
  ];
  return `${settings.join('\n')}\n`;
}

const repositoryFiles: PackageManager['repositoryFiles'] = (id) => ({
  source: `/etc/apt/sources.list.d/kbuild-${id}.list`,
  // apt reads an armoured key only from a file with this ending.
  keyring: `/etc/apt/keyrings/kbuild-${id}.asc`,
});

export const apt: PackageManager = {
  pick: (repository) => repository,
  installed,
  broken,
  locks,
  // Also `5:2.2.9-1~debian.12~bookworm` and `1.7.24~ds1-6`, but not `1.36.30` or `1.36.3~rc1` for `1.36.3`.
  isVersion: (version, upstream) => {
    const found = version.replace(/^\d+:/, '');
    return version === upstream || (found.startsWith(upstream) && /^(?:$|[-+]|~ds)/.test(found.slice(upstream.length)));
  },
  repositoryFiles,
  repository: (id, { url, suite, component }) =>
    `deb [signed-by=${repositoryFiles(id).keyring}] ${url} ` +
    `${suite === undefined ? '/' : `${suite} ${component ?? 'main'}`}\n`,
  lists: ({ url, suite }) => {
    const base = url.replace(/\/$/, '');
    const folder = suite === undefined ? base : `${base}/dists/${suite}`;
    const index = [`${folder}/InRelease`, `${folder}/Release`];
    return suite === undefined ? { index, packages: `${base}/Packages` } : { index };
  },
  proxyFile: { path: '/etc/apt/apt.conf.d/95kbuild-proxy', content: proxyConfig },
  stateFolders: ['/var/lib/dpkg', '/var/lib/apt'],
  install: (request) => transaction('host/packages/debian/install-packages.sh', request, repositoryFiles),
  release: (names) => sh`apt-mark unhold ${names}`,
  installHint: (name) => `apt-get install ${name}`,
};

/** What Debian and its derivatives share. */
const debianFamily: Family = {
  family: 'debian',
  packages: apt,
  programFolder: '/usr/local/bin',
  trustStore: { folder: '/usr/local/share/ca-certificates', extension: 'crt', update: 'update-ca-certificates' },
  chrony: chronySources('chrony', '/etc/chrony/chrony.conf', '/etc/chrony/sources.d'),
  downloader: 'host/packages/debian/download.sh',
  kubeletArguments: '/etc/default/kubelet',
  pendingReboot: probeInPlace(
    sh`if [ -e /run/reboot-required ]; then echo pending; if [ -e /run/reboot-required.pkgs ]; then sort -u /run/reboot-required.pkgs; fi; fi`,
    (out) => (out.startsWith('pending') ? lines(out).slice(1) : 'none'),
  ),
  toolPackages: {
    mount: 'mount',
    losetup: 'mount',
    cp: 'coreutils',
    ip: 'iproute2',
    ss: 'iproute2',
    modprobe: 'kmod',
    flock: 'util-linux',
    'systemd-run': 'systemd',
    bash: 'bash',
    getent: 'libc-bin',
  },
  // Kubernetes' packages depend on the others that they need.
  helpers: () => [],
  placeholders: ({ id, codename }) => ({ distribution: id, codename }),
};

export const debian: Distribution = {
  ...debianFamily,
  id: 'debian',
  name: 'Debian',
  versions: ['12', '13'],
  newNftSince: '13',
  // 12: the end of its LTS; Debian's own security team stopped on 2026-07-11 (endoflife.date).
  ends: { '12': '2028-06-30', '13': '2028-08-09' },
  support: 'supported',
};

export const ubuntu: Distribution = {
  ...debianFamily,
  id: 'ubuntu',
  name: 'Ubuntu',
  versions: ['22.04', '24.04', '26.04'],
  newNftSince: '25.10',
  ends: { '22.04': '2027-04-30', '24.04': '2029-05-31', '26.04': '2031-04-30' },
  support: 'supported',
};
