import { anotherSigner } from '../certificates/authority.refusal.ts';
import { refuseForeignRotations } from '../certificates/rotation.refusal.ts';
import { type KbuildError, Refused } from '../errors.ts';
import { endpointHost } from '../inventory/api-server.ts';
import { controlPlanes, linuxNodes, selects, windowsHosts } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { changedFixedSettings } from '../kubeadm/fixed-settings.ts';
import { isForeignAction, isInitFromBackup, isOfOwnData, RESTORE } from '../kubeadm/marker.facts.ts';
import { networkRefusals, pluginChange } from '../network/plugins.refusal.ts';
import { handlersInUse } from '../runtime/handlers.refusal.ts';
import { compareVersions } from '../versions.ts';
import { apiVersionsText, isMixed, lowestApiServer } from './api-versions.ts';
import { begunUpgrades } from './begun-upgrade.ts';
import { type Fleet, linuxFacts, observedLinux } from './fleet/fleet.ts';
import type { ClusterUp } from './fleet/view.ts';
import { founder } from './founder.ts';
import { changeRefusals, joinedRefusal } from './host.refusal.ts';
import { noCluster } from './live.ts';
import { controlPlaneNodes } from './nodes.ts';
import { returnedHosts } from './return.ts';
import { standing } from './standing.ts';

/**
 * Whether a command joins hosts of the inventory to the cluster, as `up` does. `upgrade` and `reboot` leave them as
 * they are.
 */
export type Joining = 'joins hosts' | 'joins none';

/**
 * Why `up` may not start, all reasons at once; empty if it may. They are refusals, and the errors of control planes that
 * must answer before the cluster is created. `up` leaves refused workers out instead (`refusedWorkers`). `hosts`: patterns of `--hosts`. Throws `FactError` when a fact that it needs is unknown.
 */
export function refusals(
  inventory: Inventory,
  fleet: Fleet,
  hosts?: readonly string[],
  joining: Joining = 'joins hosts',
): readonly KbuildError[] {
  const others = fleet.hosts.flatMap(({ host }) => (host.role === 'worker' ? [] : [host.name]));
  return [
    ...changeRefusals(inventory, fleet, others, 'moves runtimes'),
    ...fleet.hosts.flatMap((seen) =>
      seen.host.role === 'worker' ? [] : (joinedRefusal(inventory, fleet, seen) ?? []),
    ),
    ...unfinishedRestore(inventory, fleet),
    ...unfinishedInitFromBackup(inventory, fleet),
    ...anotherSigner(inventory, fleet),
    ...returnedHosts(inventory, fleet),
    ...liveSettings(inventory, fleet),
    ...networkRefusals(inventory, fleet),
    ...handlersInUse(inventory, fleet, hosts),
    ...(joining === 'joins none' ? [] : growth(inventory, fleet, hosts)),
    ...founding(inventory, fleet, hosts),
  ];
}

function liveSettings(inventory: Inventory, { cluster }: Fleet): readonly Refused[] {
  if (cluster.state !== 'up') return [];
  const { version } = inventory.kubernetes;
  const running = lowestApiServer(cluster);
  return [
    ...(compareVersions(version, running) >= 0
      ? []
      : [
          new Refused(
            'downgrade',
            inventory.name,
            `kubernetes.version is ${version}, the cluster runs ${running}, and Kubernetes has no way back`,
            `set kubernetes.version to ${running}, or to a newer version for \`kbuild upgrade\``,
          ),
        ]),
    ...pluginChange(inventory, cluster),
    ...changedFixedSettings(inventory, cluster.configuration).map(({ setting, wanted, live }) =>
      setting === 'endpoint'
        ? new Refused(
            'endpoint-changed',
            inventory.name,
            `the endpoint is ${wanted}, and the cluster is at ${live === '' ? 'none' : live}`,
            `lead the cluster there: \`kbuild move-endpoint ${wanted}\`${live === '' ? '' : `; or set kubernetes.endpoint back to ${live}`}`,
          )
        : new Refused(
            'fixed-setting',
            inventory.name,
            `${setting} is ${wanted}, the cluster was made with ${live === '' ? 'none' : live}, and Kubernetes cannot change it`,
            `set ${setting} back${live === '' ? '' : ` to ${live}`}, or build a new cluster`,
          ),
    ),
  ];
}

/**
 * Refuses a host on which a restore of etcd was interrupted after it stopped something: only `restore` itself can
 * finish it.
 */
function unfinishedRestore(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  return observedLinux(fleet).flatMap(({ host, facts: { marker } }) =>
    typeof marker === 'object' &&
    marker.action === RESTORE &&
    marker.cluster === inventory.name &&
    isForeignAction(marker)
      ? [
          new Refused(
            'restore-unfinished',
            host.name,
            `a restore of etcd was cut off here (${marker.stage})`,
            isOfOwnData(marker)
              ? 'run the same command again: `kbuild etcd recover`'
              : 'run the same command again: `kbuild etcd snapshot restore FILE` with the same snapshot',
          ),
        ]
      : [],
  );
}

/**
 * Refuses a host on which `kbuild restore` was cut off before its API answered: undone and created again, the cluster
 * would be another one.
 */
function unfinishedInitFromBackup(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  if (fleet.cluster.state === 'up') return [];
  return observedLinux(fleet).flatMap(({ host, facts: { marker } }) =>
    isInitFromBackup(marker) && marker.cluster === inventory.name
      ? [
          new Refused(
            'restore-unfinished',
            host.name,
            `a restore from a backup was cut off here (${marker.stage})`,
            'run the same command again: `kbuild restore BACKUP`',
          ),
        ]
      : [],
  );
}

/**
 * Refuses control planes that would join in the middle of an upgrade: the kubeadm of the older API servers would write
 * manifests of the version that the newer one has noted, with an etcd that it does not know; and what `kubeadm upgrade
 * apply` leaves last may be missing.
 */
function duringUpgrade(inventory: Inventory, fleet: Fleet, cluster: ClusterUp, names: string): readonly Refused[] {
  const begun = begunUpgrades(inventory, fleet);
  if (!isMixed(cluster) && begun.length === 0) return [];
  const found = [
    ...(isMixed(cluster) ? [`${apiVersionsText(cluster)}; kubeadm noted ${cluster.version}`] : []),
    ...begun.map(({ host, version }) => `an upgrade to ${version} was cut off on ${host.name}`),
  ];
  const versions = [cluster.version, ...begun.flatMap(({ version }) => (version === 'unknown' ? [] : [version]))];
  return [
    new Refused(
      'upgrade-unfinished',
      names,
      `no control plane joins in the middle of an upgrade (${found.join('; ')})`,
      `finish the upgrade first: \`kbuild upgrade\` with kubernetes.version ${versions.toSorted(compareVersions).at(-1)!}; then run the same command again`,
    ),
  ];
}

/** Refuses control planes that would join a live cluster if the cluster cannot take them. */
function growth(inventory: Inventory, fleet: Fleet, hosts: readonly string[] | undefined): readonly Refused[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  const joining = controlPlanes(inventory)
    .filter(({ name }) => selects(hosts, name))
    .filter((host) => isYetToJoin(inventory, fleet, host));
  if (joining.length === 0 || 'host' in founder(inventory, fleet)) return [];
  const names = joining.map(({ name }) => name).join(', ');
  refuseForeignRotations(fleet);
  const live = cluster.configuration['controlPlaneEndpoint'];
  const at = typeof live === 'string' ? endpointHost(live) : '';
  const owner =
    cluster.nodes.find(({ internalAddress }) => internalAddress === at)?.name ??
    inventory.hosts.find((host) => host.role !== 'load-balancer' && [host.address, host.internalAddress].includes(at))
      ?.name;
  const named = new Set(inventory.hosts.map(({ name }) => name));
  const unnamed = controlPlaneNodes(cluster).filter(({ name }) => !named.has(name));
  const way =
    'set kubernetes.endpoint (and loadBalancer) to a name or a virtual address, and lead the cluster there: `kbuild move-endpoint HOST:PORT`; then run the same command again';
  // Where the inventory names another one already, that is refused by itself.
  const isToMove = live !== inventory.endpoint;
  return [
    ...duringUpgrade(inventory, fleet, cluster, names),
    ...(owner === undefined || isToMove
      ? []
      : [
          new Refused(
            'endpoint-of-host',
            names,
            `the cluster's endpoint ${inventory.endpoint} is the address of ${owner}, so it cannot get more control planes`,
            way,
          ),
        ]),
    ...unnamed.map(
      ({ name }) =>
        new Refused(
          'unnamed-control-plane',
          names,
          `the inventory does not name ${name}, a control plane of the cluster: kbuild cannot tell whether it is healthy`,
          `name it in the inventory, or take it out with \`kbuild remove ${name}\``,
        ),
    ),
    ...(cluster.alarms.length === 0
      ? []
      : [
          new Refused(
            'etcd-alarm',
            names,
            `etcd has an alarm: ${cluster.alarms.join(', ')}`,
            'heal it first (docs/operations.md), then clear it with `etcdctl alarm disarm`',
          ),
        ]),
  ];
}

function isYetToJoin(inventory: Inventory, fleet: Fleet, host: LinuxHost): boolean {
  const facts = linuxFacts(fleet, host);
  if (facts === undefined) return false;
  const found = standing({ inventory, host, facts, fleet });
  return found !== 'joined' && found !== 'foreign';
}

function founding(inventory: Inventory, fleet: Fleet, hosts: readonly string[] | undefined): readonly KbuildError[] {
  if (fleet.cluster.state !== 'absent') return [];
  const joining = [...linuxNodes(inventory), ...windowsHosts(inventory)].filter(({ name }) => selects(hosts, name));
  if (joining.length === 0) return [];
  const found = founder(inventory, fleet);
  if ('none' in found) {
    const refused = new Refused(
      'cannot-create',
      inventory.name,
      `no cluster was found, and none can be created: ${found.none}`,
      'every control plane of the inventory must answer before the first build; take one that is gone out of the inventory',
    );
    return [found.isUnobserved === true ? noCluster(fleet, refused) : refused];
  }
  if (selects(hosts, found.host.name)) return [];
  return [
    new Refused(
      'founder-left-out',
      joining[0]!.name,
      `there is no cluster to join, and --hosts leaves out ${found.host.name}, which would create it`,
      `run \`kbuild up\` with ${found.host.name} among the hosts`,
    ),
  ];
}
