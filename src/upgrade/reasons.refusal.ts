import { apiServerVersions, apiVersionsText, isMixed, lowestApiServer } from '../cluster/api-versions.ts';
import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { isMemberOf } from '../cluster/members.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import { Refused } from '../errors.ts';
import { OLDEST_EXTERNAL_ETCD } from '../etcd/endpoints.step.ts';
import { sizeText } from '../etcd/space.ts';
import { inventoryOn, linuxHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { INVENTORY_NAME } from '../kubeadm/settings-preview.step.ts';
import { editedParts } from '../kubeadm/settings.ts';
import { otherDriver } from '../runtime/cgroup-driver.step.ts';
import { WITHOUT_CGROUP_V1 } from '../runtime/cgroups.check.ts';
import { containerRuntime } from '../runtime/runtimes.value.ts';
import { textIn, within } from '../shell/decode.ts';
import { compareVersions, minorNumber, minorOf, releaseOf, supportedMinors } from '../versions.ts';
import { atVersion } from './at-version.value.ts';
import { etcdBefore } from './hop.ts';

/**
 * etcd's log and snapshots beside its database: at most five segments of 64 MiB each (`--max-wals`), and what is being
 * written.
 */
const LOG_BYTES = 512 * 1024 ** 2;

/**
 * Refuses control planes on which kubeadm has no room for its copy of etcd's data: `kubeadm upgrade` makes it in
 * /etc/kubernetes/tmp before it exchanges etcd (cmd/kubeadm/app/phases/upgrade/staticpods.go), and a file system that
 * is full there stops more than kubeadm.
 */
export function backupRoom(
  { kubernetes: { version } }: Inventory,
  fleet: Fleet,
  cluster: ClusterUp,
): readonly Refused<'etcd-copy-space'>[] {
  const versions = apiServerVersions(cluster);
  return observedLinux(fleet).flatMap(({ host, facts }) => {
    const member = host.role === 'control-plane' ? cluster.members.find(isMemberOf(host)) : undefined;
    // Only the disks of these hosts matter: one of a worker that is not known stops no upgrade.
    if (member === undefined || versions.get(host.name) === version) return [];
    const volume = facts.storage.find(({ path }) => path === '/etc');
    const needed = member.dbSize + LOG_BYTES;
    if (volume === undefined || volume.freeBytes >= needed) return [];
    return [
      new Refused(
        'etcd-copy-space',
        host.name,
        `kubeadm copies etcd's data to /etc/kubernetes/tmp before it exchanges etcd, and ${volume.mountPoint} ` +
          `has ${sizeText(volume.freeBytes)} free, not ${sizeText(needed)}`,
        'make room there',
      ),
    ];
  });
}

const newest = (versions: readonly string[]): string => versions.toSorted(compareVersions).at(-1)!;

/** The newest version in the cluster: of a running API server, or the one that kubeadm noted. */
const newestVersion = (cluster: ClusterUp): string =>
  newest([cluster.version, ...[...apiServerVersions(cluster).values()].filter((version) => version !== 'unknown')]);

/** Refuses a version that is older than what an API server runs. */
export function downgrade(
  { name, kubernetes: { version } }: Inventory,
  cluster: ClusterUp,
): readonly Refused<'downgrade'>[] {
  const lowest = lowestApiServer(cluster);
  if (compareVersions(version, lowest) >= 0) return [];
  return [
    new Refused(
      'downgrade',
      name,
      `kubernetes.version is ${version}, the API servers run ${lowest}: Kubernetes has no downgrade, not even to ` +
        'an older patch',
      `set kubernetes.version to ${newestVersion(cluster)} or newer`,
    ),
  ];
}

/** Refuses an upgrade while one to a newer version is half done: its control planes would have to go back. */
export function otherUpgrade(
  { name, kubernetes: { version } }: Inventory,
  cluster: ClusterUp,
): readonly Refused<'upgrade-unfinished'>[] {
  const target = newestVersion(cluster);
  const isOther = isMixed(cluster) && compareVersions(target, version) > 0;
  if (!isOther || compareVersions(version, lowestApiServer(cluster)) < 0) return [];
  return [
    new Refused(
      'upgrade-unfinished',
      name,
      `kubernetes.version is ${version}, and an upgrade to ${target} is half done (${apiVersionsText(cluster)}; ` +
        `kubeadm noted ${cluster.version})`,
      `finish it first: set kubernetes.version to ${target} and run \`kbuild upgrade\``,
    ),
  ];
}

/** Refuses versions of a minor that this kbuild does not know. */
export function unknownMinors(
  { name, kubernetes }: Inventory,
  hops: readonly string[],
): readonly Refused<'unknown-version'>[] {
  const minors = [...new Set([...hops, kubernetes.version].map(minorOf))];
  const unknown = minors.filter((minor) => !supportedMinors.includes(minor));
  if (unknown.length === 0) return [];
  return [
    new Refused(
      'unknown-version',
      name,
      `this kbuild does not know Kubernetes ${unknown.join(', ')}; it knows ${supportedMinors.join(', ')}`,
      'set kubernetes.version to one of these minors, or use a newer kbuild',
    ),
  ];
}

/** Kubernetes, "Version Skew Policy": API servers of one cluster may be one minor apart. */
export function apartApiServers({ name }: Inventory, cluster: ClusterUp): readonly Refused<'minors-apart'>[] {
  const known = [...apiServerVersions(cluster).values()].filter((version) => version !== 'unknown').map(minorNumber);
  if (known.length === 0 || Math.max(...known) - Math.min(...known) <= 1) return [];
  return [
    new Refused(
      'minors-apart',
      name,
      `the API servers are more than one minor apart (${apiVersionsText(cluster)}), which Kubernetes does not support`,
      'upgrade the oldest of them by hand with `kubeadm upgrade node`, one minor at a time',
    ),
  ];
}

/** Refuses control planes that the inventory does not name: they would stay behind. */
export function unnamedControlPlanes(
  inventory: Inventory,
  cluster: ClusterUp,
): readonly Refused<'unnamed-control-plane'>[] {
  const names = new Set(inventory.hosts.map(({ name }) => name));
  return controlPlaneNodes(cluster)
    .filter(({ name }) => !names.has(name))
    .map(
      ({ name }) =>
        new Refused(
          'unnamed-control-plane',
          inventory.name,
          `the inventory does not name ${name}, a control plane of the cluster: kbuild cannot upgrade it`,
          `name it in the inventory, or take it out of the cluster with \`kbuild remove ${name}\``,
        ),
    );
}

/** Refuses settings that were edited and not applied: kubeadm would mix them with the new version. */
export function editedSettings(inventory: Inventory, cluster: ClusterUp): readonly Refused<'settings-not-applied'>[] {
  const edited = editedParts(inventory, cluster);
  if (edited === 'unknown' || edited.length === 0) return [];
  return [
    new Refused(
      'settings-not-applied',
      inventory.name,
      `settings were edited and not applied yet (${edited.map((part) => INVENTORY_NAME[part]).join(', ')}): ` +
        'kubeadm would mix them with the new version',
      'apply them first with `kbuild up`, then run `kbuild upgrade` again',
    ),
  ];
}

/**
 * Hosts that wait for another cgroup driver: what kubeadm stores for kubelets is for that, and the upgrade would bring
 * it to them half.
 */
export function pendingDrivers(inventory: Inventory, fleet: Fleet): readonly Refused<'cgroup-driver-unfinished'>[] {
  return observedLinux(fleet).flatMap(({ host, facts }) => {
    if (host.role === 'load-balancer') return [];
    const change = otherDriver({ inventory: inventoryOn(inventory, host), host, facts, fleet });
    if (change === undefined) return [];
    return [
      new Refused(
        'cgroup-driver-unfinished',
        host.name,
        `its pods still run by another cgroup driver than ${change.to}`,
        'set runtime.cgroupDriver back, or finish its change first with `kbuild up`; then run `kbuild upgrade` again',
      ),
    ];
  });
}

/** A version of the runtime, or an image of etcd, that the inventory pins and that does not go with a hop. */
export function pinned(
  inventory: Inventory,
  hops: readonly string[],
): readonly Refused<'runtime-misfit' | 'etcd-too-old'>[] {
  const { kubeadm } = inventory;
  const runtimes = new Set(linuxHosts(inventory).map((host) => inventoryOn(inventory, host)));
  const misfits = new Set(
    [...runtimes].flatMap((one) =>
      hops.flatMap((hop) => {
        const { runtime } = atVersion(one, hop);
        const misfit = containerRuntime({ runtime }).misfit(minorOf(hop), runtime.version);
        return misfit?.severity === 'error' ? [misfit.message] : [];
      }),
    ),
  );
  const { imageTag } = within(kubeadm.cluster, 'etcd', 'local');
  const tag = imageTag === undefined ? undefined : textIn(imageTag);
  const minimum = hops.map((version) => etcdBefore({ version })).find((one) => one !== undefined);
  const isOld = tag !== undefined && minimum !== undefined && compareVersions(releaseOf(tag), minimum) < 0;
  return [
    ...[...misfits].map(
      (message) => new Refused('runtime-misfit', inventory.name, message, 'change runtime.version in the inventory'),
    ),
    ...(isOld
      ? [
          new Refused(
            'etcd-too-old',
            inventory.name,
            `kubeadm.cluster.etcd.local.imageTag keeps etcd at ${tag}, and the upgrade needs ${minimum} or newer`,
            'take imageTag out of the inventory and run `kbuild up`, or name a newer one',
          ),
        ]
      : []),
  ];
}

/** Refuses hosts on which the kubelet of a hop would not start because of cgroup v1. */
export function cgroupV1(
  inventory: Inventory,
  fleet: Fleet,
  cluster: ClusterUp,
  hops: readonly string[],
): readonly Refused<'cgroup-v1'>[] {
  const hop = hops.find((version) => compareVersions(minorOf(version), WITHOUT_CGROUP_V1) >= 0);
  if (hop === undefined || cluster.kubeletConfiguration['failCgroupV1'] === false) return [];
  return observedLinux(fleet)
    .filter(({ host }) => host.role !== 'load-balancer' && host.kubelet.config['failCgroupV1'] !== false)
    .filter(({ facts }) => facts.cgroupVersion === 1)
    .map(
      ({ host }) =>
        new Refused(
          'cgroup-v1',
          host.name,
          `it runs on cgroup v1, and the kubelet of Kubernetes ${minorOf(hop)} does not start there`,
          'boot it with systemd.unified_cgroup_hierarchy=1, or accept the deprecated v1: set ' +
            'kubelet.config.failCgroupV1: false in the inventory and run `kbuild up`',
        ),
    );
}

/** Members of the user's own etcd that are older than kubeadm accepts: it says so only at an init. */
export function ownEtcd({ etcd: { topology } }: Inventory, fleet: Fleet): readonly Refused<'etcd-too-old'>[] {
  if (topology !== 'external') return [];
  const found = observedLinux(fleet).flatMap(({ host, facts }) =>
    host.role !== 'control-plane' || facts.externalEtcd === 'not asked' ? [] : facts.externalEtcd,
  );
  const old = new Map(
    found
      .filter(({ problem, version }) => problem === undefined && compareVersions(version, OLDEST_EXTERNAL_ETCD) < 0)
      .map(({ url, version }) => [url, version]),
  );
  return [...old].map(
    ([url, version]) =>
      new Refused(
        'etcd-too-old',
        url,
        `your etcd runs ${version} there, and ${OLDEST_EXTERNAL_ETCD} is the oldest that Kubernetes works with`,
        'upgrade your etcd first, one member at a time',
      ),
  );
}
