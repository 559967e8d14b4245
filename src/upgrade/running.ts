import { staticPodVersions, type StaticPod } from '../cluster/api-versions.ts';
import type { Target } from '../engine/step.ts';
import type { ClusterUp, NodeView } from '../facts/cluster.ts';
import { linuxFacts, type Kind } from '../facts/fleet.ts';
import { compareVersions, versionIn } from '../versions.ts';
import type { Hop } from './hop.ts';

/** Static pods that have the version of Kubernetes. */
export const KUBERNETES_PODS: readonly StaticPod[] = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/** True for a version that is older than another, and for one that is unknown. */
export const isOlder = (found: string | undefined, than: string): boolean =>
  found === undefined || found === 'unknown' || compareVersions(found, than) < 0;

/** True while the kubelet that reports for a node is older than a version. */
export const hasOldKubelet = ({ kubeletVersion }: NodeView, version: string): boolean =>
  isOlder(versionIn(kubeletVersion), version);

/** Static pods of a control plane that are older than a version, with what was found: `kube-scheduler 1.36.3`. */
export const oldPods = (cluster: ClusterUp, node: string, version: string): readonly string[] =>
  KUBERNETES_PODS.flatMap((pod) => {
    const found = staticPodVersions(cluster, pod).get(node);
    return isOlder(found, version) ? [`${pod} ${found ?? 'unknown'}`] : [];
  });

/** True while the host runs something that is older than the version of the hop. False while the cluster does not answer. */
export function isBehind<K extends Kind>(
  { host, fleet }: Pick<Target<K>, 'host' | 'fleet'>,
  { version }: Pick<Hop, 'version'>,
): boolean {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return false;
  // A host of role etcd is no node: what is installed there tells.
  if (host.os === 'linux' && host.role === 'etcd')
    return isOlder(versionIn(linuxFacts(fleet, host)?.packages.get('kubelet')?.version), version);
  const node = cluster.nodes.find(({ name }) => name === host.name);
  if (node === undefined) return false;
  const isControlPlane = host.role === 'control-plane';
  return hasOldKubelet(node, version) || (isControlPlane && oldPods(cluster, host.name, version).length > 0);
}

/**
 * True while the host runs something newer than the version of the hop. A host of role etcd, which is no node: true, for what it runs has other
 * versions. True while the cluster does not answer: nothing is known of it.
 */
export function runsNewer(
  { host, fleet: { cluster } }: Pick<Target, 'host' | 'fleet'>,
  { version }: Pick<Hop, 'version'>,
): boolean {
  if (cluster.state !== 'up' || host.role === 'etcd') return true;
  const kubelet = versionIn(cluster.nodes.find(({ name }) => name === host.name)?.kubeletVersion);
  const pods = KUBERNETES_PODS.map((pod) => staticPodVersions(cluster, pod).get(host.name));
  return [kubelet, ...pods].some((found) => found !== undefined && found !== 'unknown' && isOlder(version, found));
}

/** True for a joined host whose kubeadm is of an upgrade that was taken back: newer than these hops and than all that the host runs. */
export function hasNewerKubeadm(target: Target, hops: readonly Hop[]): boolean {
  const last = hops.at(-1);
  const found = versionIn(target.facts.packages.get('kubeadm')?.version);
  return (
    last !== undefined && found !== undefined && compareVersions(found, last.version) > 0 && !runsNewer(target, last)
  );
}
