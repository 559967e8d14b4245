import { compareVersions, containerdSupports, minorFacts, minorOf, supportedMinors } from '../../versions.ts';
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

/** The oldest containerd that speaks CRI v1, the only one that kubelets have spoken since 1.26. */
const FIRST_CRI_V1 = '1.6.0';

/** The runtime fits Kubernetes, by containerd's own support matrix. */
export const runtimeVersion: Rule = ({ kubernetes, runtime }) => {
  const minor = minorOf(kubernetes.version);
  const facts = minorFacts(minor);
  if (facts === undefined || runtime.version === undefined) return [];
  const path = ['runtime', 'version'];
  if (compareVersions(runtime.version, FIRST_CRI_V1) < 0)
    return [problem(path, `containerd ${runtime.version} has no CRI v1; use ${facts.containerd}`)];
  return containerdSupports(minor, runtime.version)
    ? []
    : [
        warning(
          path,
          `containerd supports Kubernetes ${minor} from ${facts.containerdSince.join(', ')} on, not in ${runtime.version}; use ${facts.containerd}`,
        ),
      ];
};
