import { Refused } from '../errors.ts';
import type { ClusterUp, ClusterView } from '../facts/cluster.ts';
import type { Inventory } from '../model/inventory.ts';
import { compareVersions } from '../versions.ts';

const COMPONENT = 'kube-apiserver';

const older = (a: string, b: string): string => (compareVersions(a, b) <= 0 ? a : b);

/**
 * The version of the API server on each control plane, by node; `unknown` if its pod does not show it. The version in
 * kubeadm's ClusterConfiguration is that of the newest as soon as an upgrade has begun.
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

const known = (cluster: ClusterUp): readonly string[] => [
  ...new Set([...apiServerVersions(cluster).values()].filter((version) => version !== 'unknown')),
];

/**
 * The version of the oldest running API server: no kubelet may be newer. If an API server's version is unknown, the
 * version in kubeadm's ClusterConfiguration counts too.
 */
export function lowestApiServer(cluster: ClusterUp): string {
  const versions = known(cluster);
  const all = [...apiServerVersions(cluster).values()].includes('unknown') ? [...versions, cluster.version] : versions;
  return all.length === 0 ? cluster.version : all.reduce(older);
}

/**
 * True while an upgrade is under way: API servers have different versions, or none has the version in kubeadm's
 * ClusterConfiguration.
 */
export function isMixed(cluster: ClusterUp): boolean {
  const versions = known(cluster);
  return versions.length > 1 || (versions.length === 1 && versions[0] !== cluster.version);
}

/**
 * The desired Kubernetes version of a program on a host; `any`: keep the installed one.
 * - A host that has not joined gets the inventory's version, but never one newer than the oldest running API server.
 * - A host that has joined follows the oldest API server, so that neither an edited inventory nor an upgrade that has
 * only begun upgrades a kubelet. While API servers differ, a newer installed version stays.
 * - While the cluster does not answer, the installed version stays.
 */
export function programVersion(
  { kubernetes }: Pick<Inventory, 'kubernetes'>,
  cluster: ClusterView,
  { hasJoined, installed }: { readonly hasJoined: boolean; readonly installed: string | undefined },
): string {
  const desired = kubernetes.version;
  if (cluster.state !== 'up') return hasJoined ? 'any' : desired;
  const lowest = lowestApiServer(cluster);
  if (!hasJoined) return older(lowest, desired);
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

/** Control planes whose API server is older than the version in kubeadm's ClusterConfiguration. */
export const behind = (cluster: ClusterUp): readonly string[] =>
  [...apiServerVersions(cluster)].flatMap(([name, version]) =>
    version !== 'unknown' && compareVersions(version, cluster.version) < 0 ? [name] : [],
  );

/**
 * @throws Refused while an upgrade is under way: kubeadm would write `what` in the version of its ClusterConfiguration
 * on every control plane.
 */
export function refuseMixed(subject: string, cluster: ClusterUp, what: string): void {
  if (!isMixed(cluster)) return;
  throw new Refused(
    subject,
    `${what} is due, and the API servers run different versions (${apiVersionsText(cluster)}; kubeadm noted ${cluster.version}): they would be upgraded along with it`,
    `finish the upgrade first: run \`kubeadm upgrade node\` on ${behind(cluster).join(', ') || 'the other control planes'}`,
  );
}
