import { lines, probe, type Probe } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';

/** An object of kubeadm that joining hosts, kubelets or API servers need. */
interface KubeadmRule {
  /** `KIND/NAME` as kubectl takes it; those with a namespace are in kube-system. */
  readonly object: string;
  /** The first minor whose kubeadm makes it. */
  readonly since: string;
}

const always = (object: string): KubeadmRule => ({ object, since: '1.34' });

/**
 * What `kubeadm init` and `kubeadm upgrade apply` make, and `kubeadm upgrade node` does not (kubeadm 1.34 to 1.37:
 * phases upload-config and bootstrap-token). The approval of certificates and the rules of cluster-info are not among
 * them: kubeadm's documentation has operators delete these.
 */
export const KUBEADM_RULES: readonly KubeadmRule[] = [
  always('role/kubeadm:nodes-kubeadm-config'),
  always('rolebinding/kubeadm:nodes-kubeadm-config'),
  always('role/kubeadm:kubelet-config'),
  always('rolebinding/kubeadm:kubelet-config'),
  always('clusterrole/kubeadm:get-nodes'),
  always('clusterrolebinding/kubeadm:get-nodes'),
  always('clusterrolebinding/kubeadm:kubelet-bootstrap'),
  // From 1.36 on the API server's certificate for kubelets has no group: without this binding there are no logs, no
  // exec and no metrics.
  { object: 'clusterrolebinding/kubeadm:apiserver-kubelet-client', since: '1.36' },
];

/** Those that the cluster has. */
export const kubeadmRulesProbe = (tool: readonly string[]): Probe<ReadonlySet<string>> =>
  probe(
    sh`${tool} -n kube-system get ${KUBEADM_RULES.map(({ object }) => object)} --ignore-not-found -o name`,
    // kubectl prints the API group, too: `role.rbac.authorization.k8s.io/NAME`.
    (out) => new Set(lines(out).map((line) => line.replace(/^([a-z]+)\.[^/]*\//, '$1/'))),
  );
