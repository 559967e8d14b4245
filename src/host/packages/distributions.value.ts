import { Refused } from '../../errors.ts';
import type { RepositorySource, RuntimeName } from '../../inventory/inventory.ts';
import { HANDLERS } from '../../runtime/handlers.value.ts';
import { CONTAINER_RUNTIMES } from '../../runtime/runtimes.value.ts';
import { probe, type Probe, unexpected } from '../../shell/probe.ts';
import { using } from '../../templates.ts';
import { debian, ubuntu } from './debian-family.value.ts';
import type { Distribution, Family, OsRelease } from './distribution.value.ts';
import { flatcar } from './flatcar.value.ts';
import type { PackageManager, PlacedRepository, RepositoryFiles, RepositoryId } from './package-manager.value.ts';
import { amazonLinux, fedora, rhelAndRebuilds } from './rhel-family.value.ts';
import { suseSystems } from './suse-family.value.ts';

/** Every distribution that kbuild knows. A new one is one entry. */
export const distributions: readonly Distribution[] = [
  debian,
  ubuntu,
  ...rhelAndRebuilds,
  amazonLinux,
  fedora,
  ...suseSystems,
  flatcar,
];

/** The part of a host's facts that names its distribution. */
interface Release {
  readonly osRelease: OsRelease;
}

const withId = (id: string): Distribution | undefined => distributions.find((distribution) => distribution.id === id);

/**
 * The distribution, of any version, with whose tools kbuild observes a host: its own, or for a derivative the closest
 * one that kbuild knows. undefined: kbuild knows none. `onHost` chooses by the same rule.
 */
export const knownDistribution = ({ osRelease: { id, idLike } }: Release): Distribution | undefined =>
  [id, ...idLike].map(withId).find((found) => found !== undefined);

/**
 * The distribution of a host, of any version, if kbuild supports it: a run watches files of these distributions only.
 */
export function changedDistribution({ osRelease }: Release): Distribution | undefined {
  const own = withId(osRelease.id);
  return own?.support === 'supported' && osRelease.isOstree !== true ? own : undefined;
}

/**
 * The entry of `versions` that stands for the version of a host; undefined if there is none, as for a rolling
 * distribution.
 */
export const versionIn = ({ versions }: Distribution, { osRelease: { versionId } }: Release): string | undefined =>
  versions === 'rolling'
    ? undefined
    : versions.find((version) => versionId === version || versionId.startsWith(`${version}.`));

/** The distribution of a host, if kbuild supports it in this version. */
export function supportedDistribution(facts: Release): Distribution | undefined {
  const changed = changedDistribution(facts);
  if (changed === undefined) return undefined;
  return changed.versions === 'rolling' || versionIn(changed, facts) !== undefined ? changed : undefined;
}

/** Why kbuild does not change a host of this system: one sentence without a full stop. */
export function unsupportedReason({ osRelease }: Release): string {
  const { prettyName, versionId } = osRelease;
  const own = withId(osRelease.id);
  const last = own?.ended?.[versionId];
  if (last !== undefined) return `${prettyName} is not supported: it has had no security updates since ${last}`;
  if (osRelease.isOstree === true)
    return (
      `${prettyName} is not supported: it was booted from an image (ostree), and packages work there only after ` +
      'a restart'
    );
  if (own?.refusal !== undefined) return `${prettyName} is not supported: ${own.refusal}`;
  return `${prettyName} is not yet supported`;
}

/** The refusal to change a host whose distribution kbuild does not support. */
export const notSupported = (host: { readonly name: string }, release: Release): Refused =>
  new Refused('unsupported-system', host.name, unsupportedReason(release));

/**
 * The distribution of a host. Throws `Refused` if kbuild does not support it; the check `os-supported` stops `up`
 * earlier.
 */
export function distributionOf(host: { readonly name: string }, facts: Release): Distribution {
  const distribution = supportedDistribution(facts);
  if (distribution === undefined) throw notSupported(host, facts);
  return distribution;
}

/** A URL, suite or component of a repository, with its placeholders replaced for this host. */
export function placed(text: string, distribution: Distribution, { osRelease }: Release): string {
  const values = distribution.placeholders(osRelease);
  return text.replaceAll('{distribution}', values.distribution).replaceAll('{codename}', values.codename);
}

/** A repository, with its placeholders replaced for this host. */
export const placedRepository = (
  { url, suite, component, signs }: RepositorySource,
  distribution: Distribution,
  facts: Release,
): PlacedRepository => ({
  url: placed(url, distribution, facts),
  ...(suite === undefined ? {} : { suite: placed(suite, distribution, facts) }),
  ...(component === undefined ? {} : { component }),
  ...(signs === undefined ? {} : { signs }),
});

const managers = [...new Set(distributions.map(({ packages }) => packages))].filter((one) => one !== undefined);
const REPOSITORIES: readonly RepositoryId[] = [
  'kubernetes',
  ...CONTAINER_RUNTIMES.map(({ name }) => name),
  ...Object.values(HANDLERS).flatMap(({ packaged }) => (packaged === undefined ? [] : [packaged.id])),
];

/** The runtime whose packages a repository has; undefined for the others. */
export const runtimeOfSource = (id: RepositoryId): RuntimeName | undefined =>
  CONTAINER_RUNTIMES.find(({ name }) => name === id)?.name;

/** The package managers for which kbuild sets up this repository on some system. */
const managersOf = (id: RepositoryId): ReadonlySet<PackageManager> =>
  new Set(
    distributions.flatMap(({ support, packages, systemRuntimes, lacks }) => {
      const runtime = runtimeOfSource(id);
      const isOfSystem =
        runtime !== undefined && (systemRuntimes?.[runtime] !== undefined || lacks?.includes(runtime) === true);
      return support === 'supported' && packages !== undefined && !isOfSystem ? [packages] : [];
    }),
  );

/**
 * Files of one repository, for the package managers of all supported distributions: the distribution of a host is
 * unknown before kbuild observes it. kbuild writes no repository on other hosts.
 */
export const everyRepositoryFiles = (id: RepositoryId): readonly RepositoryFiles[] =>
  [...managersOf(id)].map((manager) => manager.repositoryFiles(id));

const repositoryFiles = REPOSITORIES.flatMap(everyRepositoryFiles);

/** Key files of kbuild's repositories, for all package managers. */
export const keyringFiles: readonly string[] = repositoryFiles.map(({ keyring }) => keyring);

/** Files that give package managers the proxy. */
export const proxyFiles: readonly string[] = managers.flatMap(({ proxyFile }) =>
  proxyFile === undefined ? [] : [proxyFile.path],
);

/** All other files that kbuild writes for a package manager: each begins with kbuild's header. */
export const packageManagerFiles: readonly string[] = [...repositoryFiles.map(({ source }) => source), ...proxyFiles];

/** Packages that bring a runtime from the own repositories of some system. */
export const systemRuntimePackages = (name: RuntimeName): readonly string[] => [
  ...new Set(distributions.flatMap(({ systemRuntimes }) => systemRuntimes?.[name] ?? [])),
];

/** Folders with the state of package managers: no data of kbuild's may be placed there. */
export const packageManagerFolders: readonly string[] = managers.flatMap(({ stateFolders }) => stateFolders);

/** Folders of the certificate authorities that administrators trust, of all distributions. */
export const trustFolders: readonly string[] = [...new Set(distributions.map(({ trustStore }) => trustStore.folder))];

/** Files with kbuild's time servers, of all distributions. */
export const chronyFiles: readonly string[] = [
  ...new Set(distributions.flatMap(({ chrony }) => (chrony === undefined ? [] : [chrony.file]))),
];

/** Units of chrony, of all distributions. */
export const chronyUnits: readonly string[] = [
  ...new Set(distributions.flatMap(({ chrony }) => (chrony === undefined ? [] : [chrony.unit]))),
];

/** True for a folder of a system without packages that holds only its image: nothing is ever written there. */
export const isOfImage = (facts: Release, path: string): boolean => {
  const distribution = knownDistribution(facts);
  return path === '/usr' && distribution !== undefined && distribution.packages === undefined;
};

/**
 * A probe for a host whose distribution is not yet known: the host itself picks the script by the `ID` in its
 * os-release, or by `ID_LIKE` (a derivative has its parent's package manager), and marks the output with the family.
 * `unknown`: the answer of a host whose family kbuild does not know, or has no probe for.
 */
export function onHost<T>(pick: (family: Family) => Probe<T> | undefined, unknown: NoInfer<T>): Probe<T> {
  const families = [...new Map(distributions.map((one) => [one.family, one] as const)).values()];
  const probes = new Map(
    families.flatMap((family) => {
      const picked = pick(family);
      return picked === undefined ? [] : [[family.family, picked] as const];
    }),
  );
  const ids = (family: string) => distributions.filter((one) => one.family === family).map(({ id }) => id);
  const script = [
    'for id in $ids; do case $id in',
    ...[...probes.keys()].map((family) => `${ids(family).join(' | ')}) family=${family}; break ;;`),
    'esac; done',
    'case $family in',
    ...[...probes].map(([family, { command }]) => `${family})\necho ${family}\n${command.script}\n;;`),
    'esac',
  ].join('\n');
  const title = [...probes.values()].map(({ command }) => command.title).join(' or ');
  const command = using('host/packages/system-ids.sh', { shell: 'sh', script, title });
  const inPlace = [...probes.values()].every((picked) => picked.command.inPlace === true);
  return probe({ ...command, inPlace }, (out, asked) => {
    if (out.trim() === '') return unknown;
    const [family = '', ...answer] = out.split('\n');
    const picked = probes.get(family);
    if (picked === undefined) throw unexpected(family);
    return picked.parse(answer.join('\n'), asked);
  });
}
