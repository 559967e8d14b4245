import { Refused } from '../errors.ts';
import type { ClusterUp, ClusterView } from '../facts/cluster.ts';
import type { Inventory } from '../model/inventory.ts';
import { compareVersions } from '../versions.ts';

const COMPONENT = 'kube-apiserver';

const older = (a: string, b: string): string => (compareVersions(a, b) <= 0 ? a : b);

/**
 * The version that the API server of each control plane runs, by node; `unknown` where its pod does not tell. What kubeadm
 * noted for the cluster is the version of the newest one as soon as an upgrade has begun.
 */
export function apiServerVersions({ nodes, pods }: ClusterUp): ReadonlyMap<string, string> {
  const seen = new Map(
    pods
      .filter(({ labels }) => labels['component'] === COMPONENT)
      .map(({ node, images }) => [node, /:v(\d+\.\d+\.\d+)/.exec(images[0] ?? '')?.[1] ?? 'unknown']),
  );
  const planes = nodes.filter(({ role }) => role === 'control-plane').map(({ name }) => name);
  return new Map(planes.map((name) => [name, seen.get(name) ?? 'unknown']));
}

/** The versions that are known, without repetition. */
const known = (cluster: ClusterUp): readonly string[] => [
  ...new Set([...apiServerVersions(cluster).values()].filter((version) => version !== 'unknown')),
];

/**
 * The version of the oldest API server that runs: no kubelet may be newer. Where one does not tell its version, what kubeadm
 * noted for the cluster counts beside the others.
 */
export function lowestApiServer(cluster: ClusterUp): string {
  const versions = known(cluster);
  const all = [...apiServerVersions(cluster).values()].includes('unknown') ? [...versions, cluster.version] : versions;
  return all.length === 0 ? cluster.version : all.reduce(older);
}

/** True while API servers of different versions run, or none of the version that kubeadm noted: an upgrade is under way. */
export function isMixed(cluster: ClusterUp): boolean {
  const versions = known(cluster);
  return versions.length > 1 || (versions.length === 1 && versions[0] !== cluster.version);
}

/**
 * The version of Kubernetes that a host should have of a program; `any`: what is installed stays. A host that has not joined
 * gets the inventory's, but never a newer one than that of the oldest API server that runs. A host that has joined follows
 * that one, so that neither a version edited in the inventory nor an upgrade that has only begun upgrades a kubelet by the
 * way: while the API servers differ, what is newer on it stays. While the cluster does not answer, what is installed stays.
 */
export function programVersion(
  { kubernetes }: Pick<Inventory, 'kubernetes'>,
  cluster: ClusterView,
  { hasJoined, installed }: { readonly hasJoined: boolean; readonly installed: string | undefined },
): string {
  const wanted = kubernetes.version;
  if (cluster.state !== 'up') return hasJoined ? 'any' : wanted;
  const lowest = lowestApiServer(cluster);
  if (!hasJoined) return older(lowest, wanted);
  const isNewer = installed !== undefined && compareVersions(installed, lowest) > 0;
  return isNewer && isMixed(cluster) ? installed : lowest;
}

/** `1.36.3 on cp2, cp3; 1.37.1 on cp1`, the oldest first. */
export function apiVersionsText(cluster: ClusterUp): string {
  const byVersion = new Map<string, string[]>();
  for (const [name, version] of apiServerVersions(cluster))
    byVersion.set(version, [...(byVersion.get(version) ?? []), name]);
  return [...byVersion]
    .sort(([a], [b]) => (a === 'unknown' || b === 'unknown' ? a.localeCompare(b) : compareVersions(a, b)))
    .map(([version, names]) => `${version} on ${names.join(', ')}`)
    .join('; ');
}

/** Control planes whose API server is older than what kubeadm noted for the cluster. */
export const behind = (cluster: ClusterUp): readonly string[] =>
  [...apiServerVersions(cluster)].flatMap(([name, version]) =>
    version !== 'unknown' && compareVersions(version, cluster.version) < 0 ? [name] : [],
  );

/** @throws Refused while an upgrade is under way: kubeadm would write `what` in the version that it noted, everywhere. */
export function refuseMixed(subject: string, cluster: ClusterUp, what: string): void {
  if (!isMixed(cluster)) return;
  throw new Refused(
    subject,
    `${what} is due, and the API servers run different versions (${apiVersionsText(cluster)}; kubeadm noted ${cluster.version}): they would be upgraded along with it`,
    `finish the upgrade first: run \`kubeadm upgrade node\` on ${behind(cluster).join(', ') || 'the other control planes'}`,
  );
}
