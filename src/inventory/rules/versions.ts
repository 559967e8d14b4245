import { containerRuntime } from '../../components/runtimes/index.ts';
import type { RuntimeName } from '../../model/inventory.ts';
import { compareVersions, minorFacts, minorOf, supportedMinors } from '../../versions.ts';
import { runtimeFileOf } from '../levels.ts';
import type { Path } from '../path.ts';
import type { InventoryFile } from '../schema.ts';
import { problem, warning, type Rule } from './rule.ts';

/** Minors that this kbuild builds. */
export const kubernetesVersion: Rule = ({ kubernetes: { version } }) =>
  supportedMinors.includes(minorOf(version))
    ? []
    : [
        problem(
          ['kubernetes', 'version'],
          `Kubernetes ${minorOf(version)} is not supported by this version of kbuild; use one of ${supportedMinors.join(', ')}`,
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
