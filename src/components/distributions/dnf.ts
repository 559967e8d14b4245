import { paths } from '../../paths.ts';
import { lines, probe } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';
import { parseLocks, transaction, type PackageManager, type Proxy } from './package-manager.ts';

/** The record of the keys that kbuild has imported into rpm's database. */
const IMPORTED = `${paths.state}/imported-keys`;

/** rpm prints the epoch 0 of a package that has none. */
const withoutEpoch = (version: string): string => version.replace(/^\d+:/, '');

/** A package that `dnf versionlock` lists with this name and version is held: `kubelet-0:1.36.1-150500.1.1.*`. */
const installed: PackageManager['installed'] = (names) =>
  probe(
    // `rpm -q` prints names that are not installed on stdout too, and returns their number.
    sh`rpm -q --qf 'package %{NAME} %{EPOCHNUM}:%{VERSION}-%{RELEASE}\n' ${names} | grep -v ' is not installed$' || true
       sed -n 's/^[^#!]/lock &/p' /etc/dnf/plugins/versionlock.list 2>/dev/null || true`,
    (out) => {
      const rows = lines(out).map((line) => line.split(' '));
      const held = new Set(rows.flatMap(([kind, lock]) => (kind === 'lock' ? [lock!.replace(/\.\*$/, '')] : [])));
      const packages = rows.filter(([kind]) => kind === 'package');
      return new Map(
        packages.map(([, name, version]) => [
          name!,
          { state: 'installed', version: version!.replace(/^0:/, ''), held: held.has(`${name!}-${version!}`) },
        ]),
      );
    },
  );

/** An interrupted transaction leaves two versions of a package: the new one installed, the old one not yet removed. */
const broken: PackageManager['broken'] = probe(
  // Kernels and keys are installed side by side on purpose.
  sh`rpm -qa --qf '%{NAME}.%{ARCH}\n' | grep -vE '^(kernel|gpg-pubkey)' | sort | uniq -d`,
  (out) => lines(out).map((name) => ({ name, state: 'installed twice' })),
);

const locks: PackageManager['locks'] = probe(script('rhel/probe-locks.sh'), parseLocks);

const repositoryFiles: PackageManager['repositoryFiles'] = (id) => ({
  source: `/etc/yum.repos.d/kbuild-${id}.repo`,
  keyring: `/etc/pki/rpm-gpg/RPM-GPG-KEY-kbuild-${id}`,
});

/** dnf takes one proxy for all schemes. */
const proxyUrl = (proxy: Proxy): string | undefined => proxy?.https ?? proxy?.http;

/** The folder above `repodata`: Docker's layout is `URL/9/$basearch/stable`; `$basearch` is dnf's own variable. */
const baseUrl = ({ url, suite, component }: Parameters<PackageManager['lists']>[0], architecture: string): string =>
  [url.replace(/\/$/, ''), ...(suite === undefined ? [] : [suite, architecture, component ?? 'stable'])].join('/');

const repository: PackageManager['repository'] = (id, placed, { proxy, direct }) => {
  const url = baseUrl(placed, '$basearch');
  const way = proxyUrl(proxy);
  const settings = {
    name: `kbuild-${id}`,
    baseurl: `${url}/`,
    enabled: '1',
    gpgcheck: '1',
    gpgkey: `file://${repositoryFiles(id).keyring}`,
    // An upgrade of the system does not see them, even if their locks are gone.
    ...(id === 'kubernetes' ? { exclude: 'kubelet kubeadm kubectl cri-tools kubernetes-cni' } : {}),
    ...(way === undefined ? {} : { proxy: direct.includes(new URL(url).hostname) ? '_none_' : way }),
  };
  const rows = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  return `[kbuild-${id}]\n${rows.join('\n')}\n`;
};

export const dnf: PackageManager = {
  pick: ({ rpm }) => rpm,
  installed,
  broken,
  locks,
  // `1.36.1-150500.1.1` and `3:29.6.1-1.el9`, but not `1.36.10-…` or `1.36.1~rc1-…` for `1.36.1`.
  isVersion: (version, upstream) => version === upstream || withoutEpoch(version).split('-')[0] === upstream,
  repositoryFiles,
  repository,
  lists: (placed) => ({ index: [`${baseUrl(placed, 'x86_64')}/repodata/repomd.xml`] }),
  // dnf 4 reads no folder of drop-ins for dnf.conf, and that file is the administrator's.
  proxyFile: undefined,
  stateFolders: ['/var/lib/rpm', '/var/lib/dnf'],
  install: (request) =>
    transaction('rhel/install-packages.sh', request, repositoryFiles, {
      PROXY: proxyUrl(request.proxy) ?? '',
      KEYS: IMPORTED,
    }),
  release: (names) => script('rhel/release-packages.sh', { NAMES: names, KEYS: IMPORTED }),
  installHint: (name) => `dnf install ${name}`,
};
