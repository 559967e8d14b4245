import { paths } from '../../paths.ts';
import type { Command } from '../../shell/command.ts';
import { lines, probeInPlace } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import { script, using } from '../../templates.ts';
import type { PackageManager, PlacedRepository, Proxy, RepositoryId, Route } from './package-manager.value.ts';

/** The record of the keys that kbuild has imported into rpm's database: a parameter of scripts that use `withRpm`. */
export const IMPORTED_KEYS = `${paths.state}/imported-keys`;

/** A command that may use the functions of templates/host/packages/rpm/functions.sh. */
export const withRpm = (command: Command<'sh'>): Command<'sh'> => using('host/packages/rpm/functions.sh', command);

/** One installed package, as rpm names it. */
interface RpmPackage {
  readonly name: string;
  /** `EPOCH:VERSION-RELEASE`; the epoch is 0 where there is none. */
  readonly full: string;
  /** Without the epoch 0. */
  readonly version: string;
}

/** Prints `package NAME EPOCH:VERSION-RELEASE` of each of these names that is installed. */
const queryRpm = (names: readonly string[]): Command<'sh'> =>
  // `rpm -q` prints names that are not installed on stdout too, and returns their number.
  sh`rpm -q --qf 'package %{NAME} %{EPOCHNUM}:%{VERSION}-%{RELEASE}\n' ${names} | grep -v ' is not installed$' || true`;

/**
 * The prefix of every line of a file with locks in the output of a probe: lines may be blank, and the files
 * differ.
 */
const LOCK = 'lock:';

/** The same, and each line of the file with the package manager's locks. */
export const queryRpmAndLocks = (names: readonly string[], lockFile: string): Command<'sh'> =>
  using(queryRpm(names), sh`sed ${`s/^/${LOCK}/`} ${lockFile} 2>/dev/null || true`);

/** The lines of the file with locks in what `queryRpmAndLocks` prints. */
export const lockLines = (out: string): readonly string[] =>
  lines(out).flatMap((line) => (line.startsWith(LOCK) ? [line.slice(LOCK.length)] : []));

/** Reads the packages in what `queryRpmAndLocks` prints. */
export const readRpm = (out: string): readonly RpmPackage[] =>
  lines(out).flatMap((line) => {
    const [, name, full] = /^package (\S+) (\S+)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, full: full!, version: full!.replace(/^0:/, '') }];
  });

/** An interrupted transaction leaves two versions of a package: the new one installed, the old one not yet removed. */
export const brokenRpm: PackageManager['broken'] = probeInPlace(withRpm(sh`installed_twice`), (out) =>
  lines(out).map((name) => ({ name, state: 'installed twice' })),
);

/**
 * True for `1.36.1-150500.1.1` and `3:29.6.1-1.el9`, but not for `1.36.10-…` or `1.36.1~rc1-…`, if 1.36.1 or 29.6.1 is
 * wanted.
 */
export const isRpmVersion: PackageManager['isVersion'] = (version, upstream) =>
  version === upstream || version.replace(/^\d+:/, '').split('-')[0] === upstream;

/** A package manager over rpm takes one proxy for a repository. */
export const proxyUrl = (proxy: Proxy): string | undefined => proxy?.https ?? proxy?.http;

/**
 * The folder above `repodata`: Docker's layout is `URL/9/$basearch/stable`; `$basearch` is the package manager's own
 * variable.
 */
const baseUrl = ({ url, suite, component }: PlacedRepository, architecture: string): string =>
  [url.replace(/\/$/, ''), ...(suite === undefined ? [] : [suite, architecture, component ?? 'stable'])].join('/');

/** A repository's description, in the format that all package managers over rpm read. `more`: settings besides. */
export function rpmRepository(
  id: RepositoryId,
  placed: PlacedRepository,
  { proxy, direct }: Route,
  keyring: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const url = baseUrl(placed, '$basearch');
  const way = proxyUrl(proxy);
  const settings = {
    name: `kbuild-${id}`,
    baseurl: `${url}/`,
    enabled: '1',
    gpgcheck: placed.signs === 'metadata' ? '0' : '1',
    ...(placed.signs === 'metadata' ? { repo_gpgcheck: '1' } : {}),
    gpgkey: `file://${keyring}`,
    ...more,
    ...(way === undefined ? {} : { proxy: direct.includes(new URL(url).hostname) ? '_none_' : way }),
  };
  const rows = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  return `[kbuild-${id}]\n${rows.join('\n')}\n`;
}

/** Names of the enabled repositories that these files (patterns) describe, without kbuild's. */
export const enabledRepositories = (files: readonly string[]): NonNullable<PackageManager['systemRepositories']> =>
  probeInPlace(script('host/packages/rpm/probe-repositories.sh', { FILES: files }), lines);

/** Where the metadata of a repository is: it names its packages in no plain text. */
export const rpmLists: PackageManager['lists'] = (placed, machine) => ({
  index: [`${baseUrl(placed, machine)}/repodata/repomd.xml`],
});
