import { pluginManifests } from '../../../network/plugins.file.ts';
import { containerRuntime } from '../../../runtime/runtimes.value.ts';
import { compareVersions, minorFacts, minorOf, supportedMinors } from '../../../versions.ts';
import type { RuntimeName } from '../../inventory.ts';
import { sourceOf } from '../../schema/formats.ts';
import { type Path, problem, repeated, type Rule, warning } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { runtimeFileOf } from '../levels.ts';
import { unknownCheck } from '../unknown-names.ts';

/** An external etcd is the user's own, and whole, or kbuild's on the hosts of role etcd; never both. */
export const supportedSettings: Rule = ({ etcd, hosts }) => {
  const given = (['ca', 'cert', 'key'] as const).filter((name) => etcd[name] !== undefined);
  const member = hosts.findIndex(({ role }) => role === 'etcd');
  if (etcd.topology === 'stacked')
    return etcd.endpoints.length > 0 || given.length > 0
      ? [problem(['etcd', 'topology'], 'must be external where endpoints or certificates of an etcd are named')]
      : member === -1
        ? []
        : [problem(['hosts', member, 'role'], 'etcd runs on the control planes; set etcd.topology: external')];
  if (member !== -1)
    return etcd.endpoints.length > 0
      ? [problem(['etcd', 'endpoints'], 'are those of your own etcd; remove them, or the hosts of role etcd')]
      : given.map((name) => problem(['etcd', name], 'is made by kbuild on the hosts of role etcd; remove it'));
  if (etcd.endpoints.length === 0)
    return [
      problem(
        ['etcd', 'topology'],
        'external wants hosts of role etcd, on which kbuild builds it, or endpoints, ca, cert and key of your own',
      ),
    ];
  return (['ca', 'cert', 'key'] as const)
    .filter((name) => !given.includes(name))
    .map((name) => problem(['etcd', name], 'is required with endpoints: the file name of a PEM'));
};

/** Every registry is described once, and logs in with both halves of a login. */
export const registries: Rule = ({ runtime }) => [
  ...repeated(runtime.registries, ({ host }) => host).map(({ index, key }) =>
    problem(['runtime', 'registries', index, 'host'], `${key} is described above already; join the two`),
  ),
  ...runtime.registries.flatMap(({ username, password }, i) => {
    if ((username === undefined) === (password === undefined)) return [];
    const missing = username === undefined ? 'username' : 'password';
    return [problem(['runtime', 'registries', i, missing], 'is required: a login is username and password')];
  }),
];

/** Checks are ignored by name only, and by one of the `known` names. */
export const ignoredChecks =
  (known: readonly string[]): Rule =>
  ({ ignoreChecks }) =>
    ignoreChecks.flatMap((name, i) => {
      const path = ['ignoreChecks', i];
      if (name.toLowerCase() === 'all') return [problem(path, 'there is no way to ignore all; name the checks')];
      return known.includes(name) ? [] : [problem(path, unknownCheck(name, known))];
    });

/** A proxy is given for something. */
export const proxyIsSet: Rule = ({ proxy }) =>
  proxy !== undefined && proxy.http === undefined && proxy.https === undefined
    ? [problem(['proxy', 'http'], 'is required: the URL of the proxy, e.g. "http://proxy.example.com:3128"')]
    : [];

/** A manifest is code that runs in the cluster: it comes from a file, or over TLS. */
export const manifestSources: Rule = (file) =>
  [{ at: ['manifests'], entries: file.manifests }, ...pluginManifests(file)].flatMap(({ at, entries }) => [
    ...entries
      .map(sourceOf)
      .flatMap((source, i) =>
        /^[a-z]+:\/\//i.test(source) && !source.startsWith('https://')
          ? [problem([...at, i], 'use https://, or a file')]
          : [],
      ),
    ...repeated(entries.map(sourceOf), (source) => source).map(({ index }) =>
      problem([...at, index], 'is named above already; remove it'),
    ),
  ]);

/** Minors that this kbuild builds. */
export const kubernetesVersion: Rule = ({ kubernetes: { version } }) =>
  supportedMinors.includes(minorOf(version))
    ? []
    : [
        problem(
          ['kubernetes', 'version'],
          `Kubernetes ${minorOf(version)} is not supported by this version of kbuild; use one ` +
            `of ${supportedMinors.join(', ')}`,
        ),
      ];

/** At most one version of each minor to pass through, all of them older than the inventory's minor. */
export const viaVersions: Rule = ({ kubernetes: { version, via } }) =>
  via.flatMap((one, i) => {
    const path = ['kubernetes', 'via', i];
    const minor = minorOf(one);
    if (!supportedMinors.includes(minor))
      return [problem(path, `Kubernetes ${minor} is not supported; use one of ${supportedMinors.join(', ')}`)];
    if (compareVersions(minor, minorOf(version)) >= 0)
      return [problem(path, `${one} is not between the cluster's version and ${version}: name only older minors`)];
    return via.findIndex((other) => minorOf(other) === minor) === i
      ? []
      : [problem(path, `an upgrade passes through one version of ${minor}, and this is the second`)];
  });

/** The version of every runtime fits Kubernetes, by the runtime's own support matrix. */
export const runtimeVersion: Rule = (file) => {
  const minor = minorOf(file.kubernetes.version);
  if (minorFacts(minor) === undefined) return [];
  const seen = new Map(runtimeVersions(file).map((one) => [one.at.join('.'), one]));
  return [...seen.values()].flatMap(({ at, name, version }) => {
    const misfit = containerRuntime({ runtime: { name } }).misfit(minor, version);
    return misfit === undefined ? [] : [(misfit.severity === 'error' ? problem : warning)(at, misfit.message)];
  });
};

interface NamedVersion {
  readonly at: Path;
  readonly name: RuntimeName;
  readonly version: string;
}

/** The versions that the inventory names, with the runtimes that they are of. */
function runtimeVersions(file: InventoryFile): readonly NamedVersion[] {
  const own = ofPlace(['runtime', 'version'], file.runtime);
  const others = file.hosts.flatMap((host, i) => {
    const runtime = runtimeFileOf(file, host);
    return runtime.version === file.runtime.version && runtime.name === file.runtime.name
      ? []
      : ofPlace(placeOf(file, i), runtime);
  });
  return [...own, ...others];
}

const ofPlace = (at: Path, { name, version }: InventoryFile['runtime']): readonly NamedVersion[] =>
  version === undefined ? [] : [{ at, name, version }];

/** The nearest level of a host that names a version. */
function placeOf({ groups, hosts }: InventoryFile, index: number): Path {
  const host = hosts[index]!;
  if (host.runtime?.version !== undefined) return ['hosts', index, 'runtime', 'version'];
  const group = host.groups.findLast((name) => groups[name]?.runtime?.version !== undefined);
  return group === undefined ? ['roles', host.role, 'runtime', 'version'] : ['groups', group, 'runtime', 'version'];
}
