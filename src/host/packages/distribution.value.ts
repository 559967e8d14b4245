import type { RuntimeName } from '../../inventory/inventory.ts';
import type { Probe } from '../../shell/probe.ts';
import type { PackageManager, PackageState, RepositoryId } from './package-manager.value.ts';

/** The fields of /etc/os-release that kbuild reads. */
export interface OsRelease {
  readonly id: string;
  /** `ID_LIKE`: the distributions that it is derived from, the closest first. */
  readonly idLike: readonly string[];
  readonly versionId: string;
  readonly codename: string;
  readonly prettyName: string;
  /** The system was booted from an image of ostree, so no package manager installs into it while it runs. */
  readonly isOstree?: true;
}

/** Programs that kubeadm and kbuild use and that no package of theirs brings. */
export const REQUIRED_TOOLS = [
  'mount',
  'losetup',
  'cp',
  'ip',
  'ss',
  'modprobe',
  'flock',
  'systemd-run',
  'bash',
  'getent',
] as const;

export type RequiredTool = (typeof REQUIRED_TOOLS)[number];

/** Where the system keeps the certificate authorities that its administrator trusts. */
export interface TrustStore {
  readonly folder: string;
  /** How files must end to be read. */
  readonly extension: 'crt' | 'pem';
  /** The command that makes the store from the folder; empty if programs read the folder itself. */
  readonly update: string;
}

/** How the system has chrony: its package, and where its own configuration reads more time servers from. */
export interface ChronyPackaging {
  /** The unit, without `.service`. */
  readonly unit: string;
  /** The configuration of the operator, as messages name it. */
  readonly config: string;
  /** The file with kbuild's time servers. */
  readonly file: string;
  /** Its content, after kbuild's header, for lines of chrony's configuration. */
  readonly content: (lines: readonly string[]) => string;
  /** The line of `config` by which chrony reads the file; the package's own has it. */
  readonly directive: string;
  /**
   * Lines of chrony's effective configuration (`chronyd -p`) that are there only if it reads the file with these lines.
   */
  readonly proof: (lines: readonly string[]) => readonly string[];
  /**
   * systemd-tmpfiles makes this file of `file`, at every boot: the configuration reads no folder that a reboot keeps.
   */
  readonly made?: string;
}

/** What distributions of one family have in common. */
export interface Family {
  /** Short word, the same for all distributions of the family: the host marks its answers with it. */
  readonly family: string;
  /** undefined: the system is one image, and nothing installs packages into it. */
  readonly packages: PackageManager | undefined;
  /**
   * Container runtimes that come from the system's own repositories, because their projects publish no packages for it:
   * the package with the runtime first, then those that go with it.
   */
  readonly systemRuntimes?: Readonly<Partial<Record<RuntimeName, readonly [string, ...string[]]>>>;
  /**
   * Container runtimes whose projects publish no packages for the system, and that kbuild does not take from its own
   * repositories.
   */
  readonly lacks?: readonly RuntimeName[];
  /** Without packages: repositories of kbuild whose packages the image of the system brings. */
  readonly builtIn?: readonly RepositoryId[];
  /** Without packages: those of these names that the image brings. */
  readonly brought?: (names: readonly string[]) => Probe<ReadonlyMap<string, PackageState>>;
  /** Where `installFrom: binaries` puts programs. */
  readonly programFolder: string;
  readonly trustStore: TrustStore;
  /** undefined: the system has no packages, and no chrony that kbuild could install. */
  readonly chrony: ChronyPackaging | undefined;
  /** Script of templates/ with the functions `download` and `download_error`, by what the distribution always has. */
  readonly downloader: `${string}.sh`;
  /** The file with the kubelet's arguments that an administrator owns; the kubelet's unit reads it. */
  readonly kubeletArguments: string;
  /** The packages that need a reboot, an empty list if the host does not name them; `none`: no reboot is pending. */
  readonly pendingReboot: Probe<readonly string[] | 'none'>;
  /** The package that brings each required program. */
  readonly toolPackages: Readonly<Record<RequiredTool, string>>;
  /**
   * Packages with programs that Kubernetes and network plugins call, and that Kubernetes' own packages do not bring:
   * installed with them where a repository has them.
   */
  readonly helpers: (release: OsRelease) => readonly string[];
  /** What `{distribution}` and `{codename}` in the URLs of a repository stand for. */
  readonly placeholders: (release: OsRelease) => { readonly distribution: string; readonly codename: string };
}

/** A Linux distribution: everything that other parts of kbuild know about it. */
export interface Distribution extends Family {
  /** `ID` of os-release. */
  readonly id: string;
  readonly name: string;
  /** `VERSION_ID` of os-release, oldest first; `9` stands for 9.6 too. `rolling`: every one that is published. */
  readonly versions: readonly string[] | 'rolling';
  /** The last day with free security updates, by version as in `versions`: `YYYY-MM-DD`. None for a rolling one. */
  readonly ends?: Readonly<Record<string, string>>;
  /**
   * Versions that get no security updates any more, with the last day on which they did. kbuild does not support them.
   */
  readonly ended?: Readonly<Record<string, string>>;
  /** `known`: kbuild observes the host with the right probes, and refuses to change it. */
  readonly support: 'supported' | 'known';
  /** From this version on the vendor calls the kernel modules of iptables deprecated. */
  readonly nftablesSince?: string;
  /** The version with which nft is 1.1.3 or newer. Missing: all may have it, or it is not known. */
  readonly newNftSince?: string;
  /**
   * The value of `$releasever` with which the newest packages are found. Default: the entry of `versions`.
   */
  readonly openRelease?: string;
  /** How an operator gives a host the repositories of the system, where they are not there from the beginning. */
  readonly register?: string;
  /**
   * Why kbuild does not support it, as the rest of a sentence about the system; only where it is known and not
   * supported.
   */
  readonly refusal?: string;
}
