import { containerRuntime, SUPPORTED_RUNTIMES } from '../../components/runtimes/index.ts';
import { minorFacts, minorOf, supportedMinors } from '../../versions.ts';
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
