import { Refused } from '../errors.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { type Marker, UPGRADE } from '../kubeadm/marker.facts.ts';
import { compareVersions } from '../versions.ts';
import { type Fleet, observedLinux } from './fleet/fleet.ts';
import type { ClusterUp, ClusterView } from './fleet/view.ts';

/** Static pods of a control plane, whose images have the version of the component. */
export type StaticPod = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'etcd';

const older = (a: string, b: string): string => (compareVersions(a, b) <= 0 ? a : b);

/** The versions of a static pod by node, from its image; `unknown` where the tag of the image is no version. */
export function staticPodVersions({ pods }: ClusterUp, component: StaticPod): ReadonlyMap<string, string> {
  return new Map(
    pods
      .filter(({ labels }) => labels['component'] === component)
      .map(({ node, images }) => [node, /:v?(\d+\.\d+\.\d+)/.exec(images[0] ?? '')?.[1] ?? 'unknown']),
  );
}

/**
 * The version of the API server on each control plane, by node; `unknown` if its pod does not show it. The version in
 * kubeadm's ClusterConfiguration is that of the newest as soon as an upgrade has begun.
 */
export function apiServerVersions(cluster: ClusterUp): ReadonlyMap<string, string> {
  const seen = staticPodVersions(cluster, 'kube-apiserver');
  const planes = cluster.nodes.filter(({ role }) => role === 'control-plane').map(({ name }) => name);
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

/** A program of Kubernetes on a host. */
interface Program {
  readonly hasJoined: boolean;
  readonly installed: string | undefined;
}

/**
 * The desired Kubernetes version of a program on a host; `any`: keep the installed one.
 * - A host that has not joined gets the inventory's version, but never one newer than the oldest running API server.
 * - A host that has joined keeps an older program: `upgrade` brings the newer one, for it drains the node first. A
 * program newer than the oldest API server goes back to that version; while API servers differ, it stays.
 * - While the cluster does not answer, the installed version stays.
 */
export function programVersion(
  { kubernetes }: Pick<Inventory, 'kubernetes'>,
  cluster: ClusterView,
  { hasJoined, installed }: Program,
): string {
  const desired = kubernetes.version;
  if (cluster.state !== 'up') return hasJoined ? 'any' : desired;
  const lowest = lowestApiServer(cluster);
  if (!hasJoined) return older(lowest, desired);
  if (installed === undefined) return lowest;
  if (compareVersions(installed, lowest) < 0) return installed;
  return isMixed(cluster) ? installed : lowest;
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

/**
 * @throws Refused while an upgrade is under way: kubeadm would write `what` in the version of its ClusterConfiguration
 * on every control plane.
 */
export function refuseMixed(subject: string, cluster: ClusterUp, what: string): void {
  if (!isMixed(cluster)) return;
  throw new Refused(
    'upgrade-unfinished',
    subject,
    `${what} is due, and the API servers run different versions (${apiVersionsText(cluster)}; kubeadm noted ` +
      `${cluster.version}): they would be upgraded along with it`,
    `finish the upgrade first: \`kbuild upgrade\` with kubernetes.version ${cluster.version}`,
  );
}

/**
 * The marker of an upgrade of this cluster that kubeadm did not end on a host; undefined if there is none. `about`: its
 * version.
 */
export const begunUpgrade = (
  { name }: Pick<Inventory, 'name'>,
  { marker }: { readonly marker: Marker | 'absent' | 'unreadable' },
): Marker | undefined =>
  typeof marker === 'object' && marker.action === UPGRADE && marker.cluster === name ? marker : undefined;

/** An upgrade that kubeadm did not end on a control plane. */
export interface BegunUpgrade {
  readonly host: LinuxHost;
  readonly marker: Marker;
  /** Without `v`; `unknown`: an older kbuild noted none. */
  readonly version: string;
}

/** The control planes on which kubeadm did not end an upgrade. */
export const begunUpgrades = (inventory: Inventory, fleet: Fleet): readonly BegunUpgrade[] =>
  observedLinux(fleet).flatMap(({ host, facts }) => {
    const marker = host.role === 'control-plane' ? begunUpgrade(inventory, facts) : undefined;
    return marker === undefined ? [] : [{ host, marker, version: marker.about ?? 'unknown' }];
  });
