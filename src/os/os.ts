import type { Command } from '../shell/command.ts';

/** What one package transaction should reach. */
export interface PackageRequest {
  /** Package → version without the distribution's suffix, or `any`. */
  readonly packages: Readonly<Record<string, string>>;
  /** Installed along when a repository has them. */
  readonly optional: readonly string[];
  /** Kept at their version afterwards. */
  readonly hold: readonly string[];
  /** Repository files whose lists are fetched first; all lists only when that is not enough. */
  readonly sources: readonly string[];
}

/** How one family of distributions does things. */
export interface Os {
  /** `ID` of os-release. */
  readonly id: string;
  readonly name: string;
  /** `VERSION_ID` of os-release, oldest first. */
  readonly versions: readonly string[];
  /** One transaction: finishes an interrupted one, installs, holds. Waits for other package tools. Run as a job. */
  readonly installPackages: (request: PackageRequest) => Command<'sh'>;
  /** Lets the package manager upgrade and remove these packages again. */
  readonly releasePackages: (names: readonly string[]) => Command<'sh'>;
  /** Prints the file at a URL, base64-encoded, fetched with what the distribution always has. */
  readonly fetch: (url: string) => Command<'sh'>;
}
