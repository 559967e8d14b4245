import { lowestApiServer, type StaticPod, staticPodVersions } from '../cluster/api-versions.ts';
import { type Kind, linuxFacts } from '../cluster/fleet/fleet.ts';
import type { ClusterUp, NodeView } from '../cluster/fleet/view.ts';
import type { Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { compareVersions, KUBELET_MINORS_BEHIND, minorNumber, releaseOf, versionIn } from '../versions.ts';
import type { Hop } from './hop.ts';

/** The version of a node's running kubelet, without `v` and suffixes. */
const kubeletVersion = ({ kubeletVersion: version }: NodeView): string => releaseOf(version);

/** The version of the oldest running kubelet; undefined if the cluster has no node. */
export const lowestKubelet = ({ nodes }: ClusterUp): string | undefined =>
  nodes.map(kubeletVersion).toSorted(compareVersions)[0];

/**
 * Refuses hops that are more than three minors newer than a kubelet that runs then. The kubelets can be upgraded before
 * them. `movesAlong`: true for a control plane of this run, whose kubelet follows in each hop; a worker's follows after
 * the last one.
 */
export function oldKubelets(
  inventory: Inventory,
  cluster: ClusterUp,
  hops: readonly string[],
  movesAlong: (node: NodeView) => boolean,
): readonly Refused<'minors-apart'>[] {
  const firstWithout = (node: NodeView): string | undefined =>
    (movesAlong(node) ? hops.slice(0, 1) : hops).find(
      (hop) => minorNumber(hop) - minorNumber(kubeletVersion(node)) > KUBELET_MINORS_BEHIND,
    );
  const old = cluster.nodes.filter((node) => firstWithout(node) !== undefined);
  const hop = hops.find((one) => old.some((node) => firstWithout(node) === one));
  if (hop === undefined) return [];
  const names = old.map(({ name }) => name).join(',');
  const only = old.every(({ role }) => role === 'worker') ? ' --workers-only' : '';
  const lowest = lowestApiServer(cluster);
  return [
    new Refused(
      'minors-apart',
      inventory.name,
      `API servers of ${hop} do not work with kubelets that are more than ${String(KUBELET_MINORS_BEHIND)} ` +
        `minors older: ${old.map((node) => `${node.name} runs ${kubeletVersion(node)}`).join(', ')}`,
      `upgrade these kubelets first: set kubernetes.version to ${lowest}, run \`kbuild upgrade${only} --hosts ` +
        `${names}\`, then set kubernetes.version to ${inventory.kubernetes.version} again`,
    ),
  ];
}

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

/**
 * True while the host runs something that is older than the version of the hop. False while the cluster does not
 * answer.
 */
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
 * True while the host runs something newer than the version of the hop. A host of role etcd, which is no node: true,
 * for what it runs has other versions. True while the cluster does not answer: nothing is known of it.
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

/**
 * True for a joined host whose kubeadm is of an upgrade that was taken back: newer than these hops and than all that
 * the host runs.
 */
export function hasNewerKubeadm(target: Target, hops: readonly Hop[]): boolean {
  const last = hops.at(-1);
  const found = versionIn(target.facts.packages.get('kubeadm')?.version);
  return (
    last !== undefined && found !== undefined && compareVersions(found, last.version) > 0 && !runsNewer(target, last)
  );
}
