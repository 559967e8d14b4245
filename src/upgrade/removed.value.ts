import { removedData, type RemovedData } from './removed-data.value.ts';

/** What reads feature gates or flags. `kubeadm`: `featureGates` of its ClusterConfiguration. */
export type Component =
  'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubelet' | 'kube-proxy' | 'etcd' | 'kubeadm';

/** A flag with which a component does not start from a minor on. */
export interface RemovedFlag {
  /** Without dashes. */
  readonly name: string;
  /** True if kbuild takes the flag out of kubeadm-flags.env before the newer kubelet starts. */
  readonly kbuildRemovesIt: boolean;
}

/** A feature gate that a component accepts with one value only. */
export interface LockedGate {
  readonly name: string;
  readonly value: boolean;
}

/** What one minor no longer knows, compared with the minor before. */
export interface RemovedInMinor {
  /** e.g. `1.36` */
  readonly minor: string;
  /** The versions whose sources were compared, the older one first. The etcd is the one that kubeadm installs. */
  readonly compared: RemovedData['compared'];
  readonly flags: (component: Component) => readonly RemovedFlag[];
  /** A component does not start with a gate that it does not know. */
  readonly gates: (component: Component) => readonly string[];
  readonly locked: (component: Component) => readonly LockedGate[];
  /** API versions that are no longer served, as `group/version/Kind`. */
  readonly apis: readonly string[];
  /** `group/version` that kube-apiserver does not know: it does not start if `--runtime-config` names one. */
  readonly groupVersions: readonly string[];
}

/**
 * The minors in which the kubelet lost flags that kubeadm wrote itself (1.35: the image of pause) or that it had by
 * mistake (1.37: flags of cAdvisor): kbuild takes them out of kubeadm-flags.env.
 */
const KBUILD_REMOVES: ReadonlySet<string> = new Set(['1.35', '1.37']);

const list = (words: string | undefined): readonly string[] => (words ?? '').split(/\s+/).filter((word) => word !== '');

/** All components of Kubernetes share one set of gates. */
const gateSet = (component: Component): string =>
  component === 'etcd' || component === 'kubeadm' ? component : 'kubernetes';

/** By minor, oldest first. Which versions were compared: docs/upgrade-removed.md. */
export const removedTables: readonly RemovedInMinor[] = Object.entries(removedData).map(([minor, data]) => ({
  minor,
  compared: data.compared,
  flags: (component) =>
    list(data.flags[component]).map((name) => ({
      name,
      kbuildRemovesIt: component === 'kubelet' && KBUILD_REMOVES.has(minor),
    })),
  gates: (component) => list(data.gates[gateSet(component)]),
  locked: (component) =>
    list(data.locked[gateSet(component)]).map((word) => {
      const [name = '', value] = word.split('=');
      return { name, value: value === 'true' };
    }),
  apis: list(data.apis),
  groupVersions: list(data.groupVersions),
}));
