import { Refused } from '../../errors.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import type { HandlerKind } from '../../inventory/runtime-handlers.ts';
import { type HandlerPackage, HANDLERS } from '../../runtime/handlers.value.ts';
import type { Command } from '../../shell/command.ts';
import { installPrograms } from './binaries.value.ts';
import type { OsRelease } from './distribution.value.ts';
import { distributionOf, knownDistribution, runtimeOfSource } from './distributions.value.ts';
import type { PackageRequest, PackageState, RepositoryId } from './package-manager.value.ts';

/** A host, as far as it decides how packages get there. */
interface InstallTarget {
  readonly inventory: Inventory;
  readonly host: LinuxHost;
  readonly facts: { readonly osRelease: OsRelease; readonly arch: string };
}

/** True if the programs of Kubernetes and of its runtime come to the host as their projects publish them. */
export function getsBinaries({
  host,
  facts,
}: Pick<InstallTarget, 'host'> & { readonly facts: Pick<InstallTarget['facts'], 'osRelease'> }): boolean {
  const distribution = knownDistribution(facts);
  return host.installFrom === 'binaries' || (distribution !== undefined && distribution.packages === undefined);
}

/** True if the system of the host itself has packages of this source, and nothing can be installed into it. */
export const isBuiltIn = ({ facts }: Pick<InstallTarget, 'facts'>, sources: readonly RepositoryId[]): boolean => {
  const distribution = knownDistribution(facts);
  return distribution?.packages === undefined && sources.some((id) => distribution?.builtIn?.includes(id) === true);
};

/**
 * The packages that bring a runtime of these sources from the own repositories of the host's system; undefined for any
 * other way.
 */
export function systemRuntime(
  target: Parameters<typeof getsBinaries>[0],
  sources: readonly RepositoryId[],
): readonly [string, ...string[]] | undefined {
  if (getsBinaries(target)) return undefined;
  const { systemRuntimes } = knownDistribution(target.facts) ?? {};
  return sources
    .map(runtimeOfSource)
    .map((name) => (name === undefined ? undefined : systemRuntimes?.[name]))
    .find((one) => one !== undefined);
}

/** How packages of these sources are installed on a host; without sources: those of the host's own repositories. */
const way = (target: InstallTarget, sources: readonly RepositoryId[]): 'binaries' | 'distribution' =>
  sources.length > 0 && getsBinaries(target) ? 'binaries' : 'distribution';

/** True if an installed package is the upstream version, and came the way that the host's packages come. */
export function isInstalledAs(
  target: InstallTarget,
  sources: readonly RepositoryId[],
  { version, from }: PackageState,
  upstream: string,
): boolean {
  if (isBuiltIn(target, sources)) return true;
  if ((from ?? 'distribution') !== way(target, sources)) return false;
  if (upstream === 'any') return true;
  if (from === 'binaries') return version === upstream;
  return knownDistribution(target.facts)?.packages?.isVersion(version, upstream) === true;
}

/**
 * The command that installs packages on a host. Run as a job.
 * @throws Refused if kbuild does not support the distribution, or it can install none of them
 */
export function installation(target: InstallTarget, request: PackageRequest): Command<'sh'> {
  const { host, facts } = target;
  const distribution = distributionOf(host, facts);
  const names = Object.keys(request.packages).join(', ');
  if (isBuiltIn(target, request.sources))
    throw new Refused(
      'built-in-missing',
      host.name,
      `${distribution.name} brings ${request.sources.join(', ')} itself, and this host has none`,
      'switch the part of the system that brings it on again: ls -l /etc/extensions',
    );
  if (way(target, request.sources) === 'binaries') return installPrograms(target, distribution, request);
  if (distribution.packages === undefined)
    throw new Refused('no-packages', host.name, `${names} cannot be installed: ${distribution.name} has no packages`);
  return distribution.packages.install(request);
}

/** Why a package that is there must go before kbuild installs it the other way; undefined if it need not. */
export function otherWay(
  target: InstallTarget,
  sources: readonly RepositoryId[],
  name: string,
  state: PackageState | undefined,
): Refused | undefined {
  if (state === undefined || isBuiltIn(target, sources)) return undefined;
  const from = state.from ?? 'distribution';
  if (from === way(target, sources)) return undefined;
  return from === 'binaries'
    ? new Refused(
        'installation-changed',
        target.host.name,
        `${name} was installed from binaries, and the inventory wants packages`,
        `kbuild remove ${target.host.name}, then kbuild up: it joins with packages`,
      )
    : new Refused(
        'installation-changed',
        target.host.name,
        `${name} is installed as a package, and the inventory wants binaries`,
        `remove the package with the host's package manager (purge ${name}), or take installFrom: binaries away`,
      );
}

/**
 * The package by which kbuild brings the program of a handler to a host; undefined if there is none for the host's
 * system.
 */
export function handlerPackage(
  target: Parameters<typeof getsBinaries>[0],
  kind: HandlerKind,
): HandlerPackage | undefined {
  const { packaged } = HANDLERS[kind];
  const packages = knownDistribution(target.facts)?.packages;
  if (packaged === undefined || packages === undefined || getsBinaries(target)) return undefined;
  return packages.pick(packaged.repository).url === '' ? undefined : packaged;
}
