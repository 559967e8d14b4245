import type { Inventory, PackageRepository, RepositorySource, RuntimeName } from '../../inventory/inventory.ts';
import type { HandlerRepositoryId } from '../../runtime/handlers.value.ts';
import type { Command } from '../../shell/command.ts';
import { lines, type Probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';

/** One package of a host. `half` is anything between installed and not installed. */
export interface PackageState {
  readonly state: 'installed' | 'half';
  readonly version: string;
  /** True when an upgrade of the system leaves the package at its version. */
  readonly held: boolean;
  /**
   * `binaries`: kbuild put published programs there, and no package manager knows of them. Default: the distribution.
   */
  readonly from?: 'binaries';
}

/** A package that an interrupted transaction left between installed and not installed. */
interface BrokenPackage {
  readonly name: string;
  /** The package manager's word for it, e.g. `half-configured`. */
  readonly state: string;
}

/** A process that holds a lock of the package manager. */
interface PackageLock {
  readonly file: string;
  readonly pid: number;
  /** Name of the process. */
  readonly process: string;
}

/** A release of the system from which alone its repositories show packages, because a setting of the host says so. */
export interface ReleaseLock {
  /** The source: a file, or a command. */
  readonly by: string;
  readonly release: string;
}

/** The inventory's proxy for outbound connections; undefined if it has none. */
export type Proxy = Inventory['proxy'];

/** One package transaction. */
export interface PackageRequest {
  /** Package → version without the distribution's suffix, or `any`. */
  readonly packages: Readonly<Record<string, string>>;
  /** Installed too if a repository has them. */
  readonly optional: readonly string[];
  /** Kept at their version afterwards. */
  readonly hold: readonly string[];
  /** Repositories of kbuild whose lists are fetched first; all lists only when these do not suffice. */
  readonly sources: readonly RepositoryId[];
  readonly proxy: Proxy;
  /** Only downloads, and unpacks the program kubeadm of these packages to this path. */
  readonly unpackKubeadm?: string;
}

/** The repositories that kbuild sets up. */
export type RepositoryId = 'kubernetes' | RuntimeName | HandlerRepositoryId;

/** Where the files of a repository are. */
export interface RepositoryFiles {
  /** The package manager's description of the repository. */
  readonly source: string;
  /** Holds the armoured signing key. */
  readonly keyring: string;
}

/** Where a repository is, for one host: no placeholder is left in its URLs. */
export type PlacedRepository = Pick<RepositorySource, 'url' | 'suite' | 'component' | 'signs'>;

/** How the package manager reaches the repositories of kbuild. */
export interface Route {
  readonly proxy: Proxy;
  /** Names of hosts that are reached without the proxy. */
  readonly direct: readonly string[];
}

/** How packages are observed, found, installed and held on a host. */
export interface PackageManager {
  /** The repository of a component that has packages for it. */
  readonly pick: (repository: PackageRepository) => RepositorySource;
  /** Installed packages of the given names; a name that is not in the map is not installed. */
  readonly installed: (names: readonly string[]) => Probe<ReadonlyMap<string, PackageState>>;
  /** Packages of any name that an interrupted transaction left broken. */
  readonly broken: Probe<readonly BrokenPackage[]>;
  /** Holders of the package manager's locks. The probe takes none of them. */
  readonly locks: Probe<readonly PackageLock[]>;
  /** Names of the enabled repositories of the system's own; missing where kbuild needs none of them. */
  readonly systemRepositories?: Probe<readonly string[]>;
  /** Settings of the host that hold the system's own repositories at a release. */
  readonly releaseLocks?: Probe<readonly ReleaseLock[]>;
  /** True if the version of an installed package is the upstream version, e.g. `1.36.3-1.1` is `1.36.3`. */
  readonly isVersion: (installed: string, upstream: string) => boolean;

  readonly repositoryFiles: (id: RepositoryId) => RepositoryFiles;
  /** Content of a repository's `source` file. */
  readonly repository: (id: RepositoryId, repository: PlacedRepository, route: Route) => string;
  /**
   * URLs that show whether a repository is there (one suffices) for this machine (`uname -m`), and the one that lists
   * its packages, if that is plain text: of all architectures, in Debian's format.
   */
  readonly lists: (
    repository: PlacedRepository,
    machine: string,
  ) => { readonly index: readonly string[]; readonly packages?: string };
  /** The file that gives the proxy to the package manager; undefined where repositories and requests carry it. */
  readonly proxyFile: { readonly path: string; readonly content: (route: Route) => string | undefined } | undefined;
  /** Folders of its own state: no data of kbuild's may be placed there. */
  readonly stateFolders: readonly string[];

  /** One transaction: finishes an interrupted one, installs, holds. Waits for other package tools. Run as a job. */
  readonly install: (request: PackageRequest) => Command<'sh'>;
  /** Lets the package manager upgrade and remove these packages again. */
  readonly release: (names: readonly string[]) => Command<'sh'>;
  /** The command by which an operator installs a package. */
  readonly installHint: (name: string) => string;
}

/** Parses lines "FILE PID PROCESS" of the scripts probe-locks*.sh in templates/. */
export const parseLocks = (out: string): readonly PackageLock[] =>
  lines(out).flatMap((line) => {
    const [, file, pid, process] = /^(\S+) (\d+) (.*)$/.exec(line) ?? [];
    return file === undefined ? [] : [{ file, pid: Number(pid), process: process! }];
  });

/** A package transaction by this script of templates/, which all package managers give the same parameters. */
export const transaction = (
  name: `${string}.sh`,
  { packages, optional, hold, sources, unpackKubeadm = '' }: PackageRequest,
  repositoryFiles: PackageManager['repositoryFiles'],
  more: Readonly<Record<string, string>> = {},
): Command<'sh'> =>
  script(name, {
    PACKAGES: Object.entries(packages).map(([each, version]) => `${each} ${version}`),
    OPTIONAL: optional,
    HOLD: hold,
    UNPACK: unpackKubeadm,
    SOURCES: sources.map((id) => repositoryFiles(id).source),
    ...more,
  });
