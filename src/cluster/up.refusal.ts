import { anotherSigner } from '../certificates/authority.refusal.ts';
import { refuseForeignRotations } from '../certificates/rotation.refusal.ts';
import { type KbuildError, Refused } from '../errors.ts';
import { endpointHost } from '../inventory/addresses.ts';
import { controlPlanes, linuxNodes, selects, windowsHosts } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { liveEndpoint } from '../kubeadm/endpoint.ts';
import { isForeignAction, isInitFromBackup, isOfOwnData, RESTORE } from '../kubeadm/marker.facts.ts';
import { fixedSettings } from '../kubeadm/settings.ts';
import { networkRefusals, pluginChange } from '../network/plugins.refusal.ts';
import { handlersInUse } from '../runtime/handlers.refusal.ts';
import { compareVersions, docsPage } from '../versions.ts';
import { apiVersionsText, begunUpgrades, isMixed, lowestApiServer } from './api-versions.ts';
import { type Fleet, linuxFacts, observedLinux } from './fleet/fleet.ts';
import { changeReasons, type Changing } from './host.refusal.ts';
import { joinedRefusal } from './joined.refusal.ts';
import { noCluster, type SeenLive } from './live.ts';
import { controlPlaneNodes, returnedHosts } from './nodes.ts';
import { reason, type Reason, refusedFor, type Seen } from './reasons.ts';
import { founder, standing } from './standing.ts';

/**
 * Whether a command joins hosts of the inventory to the cluster, as `up` does. `upgrade` and `reboot` leave them as
 * they are.
 */
export type Joining = 'joins hosts' | 'joins none';

const downgrade: Reason<Seen> = reason(['downgrade'], ({ inventory, fleet: { cluster } }) => {
  if (cluster.state !== 'up') return undefined;
  const { version } = inventory.kubernetes;
  const running = lowestApiServer(cluster);
  if (compareVersions(version, running) >= 0) return undefined;
  return new Refused(
    'downgrade',
    inventory.name,
    `kubernetes.version is ${version}, the cluster runs ${running}, and Kubernetes has no way back`,
    `set kubernetes.version to ${running}, or to a newer version for \`kbuild upgrade\``,
  );
});

const movedEndpoint: Reason<Seen> = reason(['endpoint-changed'], ({ inventory, fleet: { cluster } }) => {
  const { endpoint } = inventory;
  const live = cluster.state === 'up' ? liveEndpoint(cluster) : endpoint;
  if (live === endpoint) return undefined;
  return new Refused(
    'endpoint-changed',
    inventory.name,
    `the endpoint is ${endpoint}, and the cluster is at ${live === '' ? 'none' : live}`,
    `lead the cluster there: \`kbuild move-endpoint ${endpoint}\`` +
      (live === '' ? '' : `; or set kubernetes.endpoint back to ${live}`),
  );
});

/**
 * An action that only its own command can finish: undone and begun again, etcd would lose data, or the cluster be
 * another one.
 */
const unfinishedRestore: Reason<Seen> = reason(['restore-unfinished'], ({ inventory, fleet }) =>
  observedLinux(fleet).flatMap(({ host, facts: { marker } }) => {
    if (typeof marker !== 'object' || marker.cluster !== inventory.name) return [];
    const refused = (what: string, command: string) =>
      new Refused(
        'restore-unfinished',
        host.name,
        `a restore ${what} was cut off here (${marker.stage})`,
        `run the same command again: ${command}`,
      );
    if (isInitFromBackup(marker) && fleet.cluster.state !== 'up')
      return [refused('from a backup', '`kbuild restore BACKUP`')];
    if (marker.action !== RESTORE || !isForeignAction(marker)) return [];
    return [
      refused(
        'of etcd',
        isOfOwnData(marker) ? '`kbuild etcd recover`' : '`kbuild etcd snapshot restore FILE` with the same snapshot',
      ),
    ];
  }),
);

/** Control planes that would join a live cluster. */
interface Growth extends SeenLive {
  /** Their names, as a message lists them. */
  readonly names: string;
}

/**
 * Refuses control planes that would join in the middle of an upgrade: the kubeadm of the older API servers would write
 * manifests of the version that the newer one has noted, with an etcd that it does not know; and what `kubeadm upgrade
 * apply` leaves last may be missing.
 */
function duringUpgrade({ inventory, fleet, cluster, names }: Growth): Refused<'upgrade-unfinished'> | undefined {
  const begun = begunUpgrades(inventory, fleet);
  if (!isMixed(cluster) && begun.length === 0) return undefined;
  const found = [
    ...(isMixed(cluster) ? [`${apiVersionsText(cluster)}; kubeadm noted ${cluster.version}`] : []),
    ...begun.map(({ host, version }) => `an upgrade to ${version} was cut off on ${host.name}`),
  ];
  const versions = [cluster.version, ...begun.flatMap(({ version }) => (version === 'unknown' ? [] : [version]))];
  return new Refused(
    'upgrade-unfinished',
    names,
    `no control plane joins in the middle of an upgrade (${found.join('; ')})`,
    'finish the upgrade first: `kbuild upgrade` with kubernetes.version ' +
      `${versions.toSorted(compareVersions).at(-1)!}; then run the same command again`,
  );
}

/**
 * The cluster's endpoint is the address of one host. Where the inventory names another one already, that is refused by
 * itself.
 */
function endpointOfHost({ inventory, cluster, names }: Growth): Refused<'endpoint-of-host'> | undefined {
  const live = liveEndpoint(cluster);
  const at = live === '' ? '' : endpointHost(live);
  const owner =
    cluster.nodes.find(({ internalAddress }) => internalAddress === at)?.name ??
    inventory.hosts.find((host) => host.role !== 'load-balancer' && [host.address, host.internalAddress].includes(at))
      ?.name;
  if (owner === undefined || live !== inventory.endpoint) return undefined;
  return new Refused(
    'endpoint-of-host',
    names,
    `the cluster's endpoint ${inventory.endpoint} is the address of ${owner}, so it cannot get more control planes`,
    'set kubernetes.endpoint (and loadBalancer) to a name or a virtual address, and lead the cluster there: ' +
      '`kbuild move-endpoint HOST:PORT`; then run the same command again',
  );
}

function unnamedControlPlanes({ inventory, cluster, names }: Growth): readonly Refused<'unnamed-control-plane'>[] {
  const named = new Set(inventory.hosts.map(({ name }) => name));
  return controlPlaneNodes(cluster)
    .filter(({ name }) => !named.has(name))
    .map(
      ({ name }) =>
        new Refused(
          'unnamed-control-plane',
          names,
          `the inventory does not name ${name}, a control plane of the cluster: kbuild cannot tell whether it is ` +
            'healthy',
          `name it in the inventory, or take it out with \`kbuild remove ${name}\``,
        ),
    );
}

const growthReasons: readonly Reason<Growth>[] = [
  reason(['upgrade-unfinished'], duringUpgrade),
  reason(['endpoint-of-host'], endpointOfHost),
  reason(['unnamed-control-plane'], unnamedControlPlanes),
  reason(
    ['etcd-alarm'],
    ({ cluster: { alarms }, names }) =>
      alarms.length > 0 &&
      new Refused(
        'etcd-alarm',
        names,
        `etcd has an alarm: ${alarms.join(', ')}`,
        `heal it first (${docsPage('operations.md#recover')}), then clear it with \`etcdctl alarm disarm\``,
      ),
  ),
];

function isYetToJoin(inventory: Inventory, fleet: Fleet, host: LinuxHost): boolean {
  const facts = linuxFacts(fleet, host);
  if (facts === undefined) return false;
  return !['joined', 'foreign'].includes(standing({ inventory, host, facts, fleet }));
}

/** Control planes that would join a live cluster, if the cluster cannot take them. */
function growth({ inventory, fleet, hosts, joining }: Up): readonly Refused[] {
  const { cluster } = fleet;
  if (joining === 'joins none' || cluster.state !== 'up') return [];
  const fresh = controlPlanes(inventory)
    .filter(({ name }) => selects(hosts, name))
    .filter((host) => isYetToJoin(inventory, fleet, host));
  if (fresh.length === 0 || 'host' in founder(inventory, fleet)) return [];
  refuseForeignRotations(fleet);
  return refusedFor(growthReasons, { inventory, fleet, cluster, names: fresh.map(({ name }) => name).join(', ') });
}

function founding({ inventory, fleet, hosts }: Up): Refused<'cannot-create' | 'founder-left-out'> | undefined {
  if (fleet.cluster.state !== 'absent') return undefined;
  const joining = [...linuxNodes(inventory), ...windowsHosts(inventory)].filter(({ name }) => selects(hosts, name));
  if (joining.length === 0) return undefined;
  const found = founder(inventory, fleet);
  if ('none' in found)
    return new Refused(
      'cannot-create',
      inventory.name,
      `no cluster was found, and none can be created: ${found.none}`,
      'every control plane of the inventory must answer before the first build; take one that is gone out of the ' +
        'inventory',
    );
  if (selects(hosts, found.host.name)) return undefined;
  return new Refused(
    'founder-left-out',
    joining[0]!.name,
    `there is no cluster to join, and --hosts leaves out ${found.host.name}, which would create it`,
    `run \`kbuild up\` with ${found.host.name} among the hosts`,
  );
}

/** What `up` is to do. */
interface Up extends Changing {
  /** Patterns of `--hosts`. */
  readonly hosts: readonly string[] | undefined;
  readonly joining: Joining;
}

/** What `up` refuses, and each command that does a part of what `up` does. */
export const upReasons: readonly Reason<Up>[] = [
  ...changeReasons,
  reason(['role-changed', 'address-changed'], ({ inventory, fleet, names }) =>
    fleet.hosts
      .filter(({ host }) => names.includes(host.name))
      .flatMap((seen) => joinedRefusal(inventory, fleet, seen) ?? []),
  ),
  unfinishedRestore,
  reason(['authority-signer', 'authority-key-missing'], ({ inventory, fleet }) => anotherSigner(inventory, fleet)),
  reason(['host-returned'], ({ inventory, fleet }) => returnedHosts(inventory, fleet)),
  downgrade,
  reason(
    ['network-plugin-changed'],
    ({ inventory, fleet }) => fleet.cluster.state === 'up' && pluginChange(inventory, fleet, fleet.cluster),
  ),
  movedEndpoint,
  fixedSettings,
  reason(['windows-network'], ({ inventory, fleet }) => networkRefusals(inventory, fleet)),
  reason(['handler-in-use'], ({ inventory, fleet, hosts }) => handlersInUse(inventory, fleet, hosts)),
  { names: growthReasons.flatMap(({ names }) => names), test: growth },
  reason(['cannot-create', 'founder-left-out'], founding),
];

/**
 * Why `up` may not start, all reasons at once; empty if it may. They are refusals, and the errors of control planes
 * that must answer before the cluster is created. `up` leaves refused workers out instead (`refusedWorkers`). `hosts`:
 * patterns of `--hosts`. Throws `FactError` when a fact that it needs is unknown.
 */
export const refusals = (
  inventory: Inventory,
  fleet: Fleet,
  hosts?: readonly string[],
  joining: Joining = 'joins hosts',
): readonly KbuildError[] => {
  const found = founder(inventory, fleet);
  const isUnobserved = 'none' in found && found.isUnobserved === true;
  const names = fleet.hosts.flatMap(({ host }) => (host.role === 'worker' ? [] : [host.name]));
  return refusedFor(upReasons, { inventory, fleet, hosts, joining, names, moving: 'moves runtimes' }).map((refused) =>
    isUnobserved && refused.refusal === 'cannot-create' ? noCluster(fleet, refused) : refused,
  );
};
