import { containerRuntime, SUPPORTED_RUNTIMES } from '../../components/runtimes/index.ts';
import { compareVersions, minorFacts, minorOf, supportedMinors } from '../../versions.ts';
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

/** The version of the runtime fits Kubernetes, by the runtime's own support matrix. */
export const runtimeVersion: Rule = ({ kubernetes, runtime }) => {
  const minor = minorOf(kubernetes.version);
  if (minorFacts(minor) === undefined || runtime.version === undefined) return [];
  const misfit = containerRuntime({ runtime }).misfit(minor, runtime.version);
  if (misfit === undefined) return [];
  return [(misfit.severity === 'error' ? problem : warning)(['runtime', 'version'], misfit.message)];
};

/** Runtimes that this kbuild installs. */
export const supportedRuntime: Rule = ({ runtime }) =>
  containerRuntime({ runtime }).isSupported
    ? []
    : [
        problem(
          ['runtime', 'name'],
          `${runtime.name} is not supported yet; use ${SUPPORTED_RUNTIMES.map(({ name }) => name).join(' or ')}`,
        ),
      ];
