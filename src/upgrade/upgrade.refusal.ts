import { duringRotation } from '../certificates/rotation.refusal.ts';
import { lowestApiServer } from '../cluster/api-versions.ts';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { refusedOfLive, type SeenLive } from '../cluster/live.ts';
import { reason, type Reason } from '../cluster/reasons.ts';
import { type KbuildError, Refused } from '../errors.ts';
import { unfinishedActions } from '../host/unfinished.refusal.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { UPGRADE } from '../kubeadm/marker.facts.ts';
import { handlersInUse } from '../runtime/handlers.refusal.ts';
import { runtimeRefusal } from '../runtime/runtime-change.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { apartAfterwards, type IsChosen, otherBegun } from './begun.ts';
import {
  apartApiServers,
  backupRoom,
  cgroupV1,
  downgrade,
  editedSettings,
  otherUpgrade,
  ownEtcd,
  pendingDrivers,
  pinned,
  unknownMinors,
  unnamedControlPlanes,
} from './reasons.refusal.ts';
import { type PlaceSource, removedInUse, removedTables, type RemovedUse } from './removed.value.ts';
import { settingsPlaces } from './settings-places.ts';
import { lowestKubelet, oldKubelets } from './versions.ts';
import type { StoredObjects } from './view-parts.facts.ts';

/**
 * True for an API version that a later one does not convert: objects of alpha versions have to be deleted before it
 * goes.
 */
const isAlpha = (groupVersion: string): boolean => /\bv\d+alpha\d+\b/.test(groupVersion);

/**
 * The alpha API versions of kinds that Kubernetes no longer knows on the way from version `from` to version `to`, as
 * kubectl takes them: `Workload.v1alpha2.scheduling.k8s.io`. What is stored in etcd in such a version, no newer API
 * server can read (release notes of 1.35 and 1.37: "delete all objects before").
 */
export const unreadableApis = (from: string, to: string): readonly string[] =>
  removedTables()
    .filter(({ minor }) => compareVersions(minor, minorOf(from)) > 0 && compareVersions(minor, minorOf(to)) <= 0)
    .flatMap(({ apis }) => apis)
    .filter(isAlpha)
    .map((api) => {
      const [group = '', version = '', kind = ''] = api.split('/');
      return `${kind}.${version}.${group}`;
    });

/** One refusal for each API version with objects that no newer API server can read. */
export const unreadableRefusals = (
  { name, kubernetes: { minor } }: Inventory,
  found: readonly StoredObjects[],
): readonly Refused[] =>
  found.map(
    ({ api, count }) =>
      new Refused(
        'removed-api',
        name,
        `Kubernetes ${minor} cannot read ${String(count)} ${count === 1 ? 'object' : 'objects'} of ${api}, and ` +
          'has no newer version of them',
        `delete those objects yourself when you know what they are for (\`kubectl get ${api} -A\`), then run ` +
          '`kbuild upgrade` again',
      ),
  );

const AGAIN = 'then run `kbuild upgrade` again';
const BY_UP = 'run `kbuild up`, which writes the file from the inventory';

/** How a setting leaves its place. */
const REMEDY: Readonly<Record<PlaceSource, string>> = {
  inventory: 'remove it from the inventory and apply that with `kbuild up`',
  'kubeadm-config': 'remove it with `kubectl -n kube-system edit configmap kubeadm-config`',
  'kubelet-config': 'remove it with `kubectl -n kube-system edit configmap kubelet-config`, then run `kbuild up`',
  'kubeadm-flags.env': BY_UP,
  'config.yaml': BY_UP,
  administrator: 'remove it from the file and run `systemctl restart kubelet`',
};

/**
 * The settings in force with which a component does not start after the upgrade, without those that kbuild takes out
 * itself. A kubelet may be older than the API servers, so the oldest running kubelet counts for kubelets.
 */
function removedSettings(inventory: Inventory, fleet: Fleet, cluster: ClusterUp): readonly RemovedUse[] {
  const to = inventory.kubernetes.version;
  const places = settingsPlaces(inventory, fleet);
  const api = lowestApiServer(cluster);
  const kubelet = [api, lowestKubelet(cluster) ?? api].toSorted(compareVersions)[0]!;
  const isKubelet = ({ component }: { readonly component: string }): boolean => component === 'kubelet';
  const uses = [
    ...removedInUse(
      places.filter((place) => !isKubelet(place)),
      api,
      to,
    ),
    ...removedInUse(places.filter(isKubelet), kubelet, to),
  ].filter(({ kbuildRemovesIt }) => !kbuildRemovesIt);
  return uses.filter((use, i) => !uses.slice(0, i).some((earlier) => covers(earlier, use)));
}

/** True if the same setting stands in a place that the later one is written from: the operator changes the former. */
const covers = (earlier: RemovedUse, later: RemovedUse): boolean =>
  earlier.source !== later.source &&
  earlier.component === later.component &&
  earlier.name === later.name &&
  earlier.kind === later.kind &&
  later.source !== 'administrator' &&
  (earlier.hosts.length === 0 || later.hosts.every((host) => earlier.hosts.includes(host)));

/** Without the setting the API server does not show the objects of an alpha API any more, and they stay in etcd. */
function objectsFirst(uses: readonly RemovedUse[]): string {
  const apis = uses.filter(({ kind, name }) => kind === 'API' && isAlpha(name)).map(({ name }) => name);
  return apis.length === 0
    ? ''
    : `first delete the objects of ${apis.join(', ')} that you made, if there are any; then `;
}

/** One refusal for each place in which settings stand that a newer component does not accept. */
function removedRefusals(
  inventory: Inventory,
  fleet: Fleet,
  cluster: ClusterUp,
): readonly Refused<'removed-setting'>[] {
  const uses = removedSettings(inventory, fleet, cluster);
  return [...new Set(uses.map(({ where }) => where))].map((where) => {
    const here = uses.filter((use) => use.where === where);
    const { source, hosts, component } = here[0]!;
    const consequence =
      component === 'kubeadm' ? 'kubeadm would refuse its configuration' : `${component} would not start`;
    return new Refused(
      'removed-setting',
      hosts.length === 0 ? inventory.name : hosts.join(', '),
      `${where}: ${here.map(({ message }) => message).join('; ')}: ${consequence}`,
      `${objectsFirst(here)}${REMEDY[source]}, ${AGAIN}`,
    );
  });
}

/** A live cluster, and an upgrade of it. */
interface Upgrading extends SeenLive {
  /** The versions to go through, from `hopsOf`. */
  readonly hops: readonly string[];
  readonly isChosen: IsChosen;
}

/** What `upgrade` refuses about a cluster that answers. */
export const upgradeReasons: readonly Reason<Upgrading>[] = [
  reason(['downgrade'], ({ inventory, cluster }) => downgrade(inventory, cluster)),
  reason(['upgrade-unfinished'], ({ inventory, cluster }) => otherUpgrade(inventory, cluster)),
  reason(['upgrade-unfinished'], ({ inventory, fleet, cluster, hops }) =>
    otherBegun(inventory, fleet, cluster, hops.length === 0 ? [inventory.kubernetes.version] : hops),
  ),
  reason(['unknown-version'], ({ inventory, hops }) => unknownMinors(inventory, hops)),
  reason(['minors-apart'], ({ inventory, cluster }) => apartApiServers(inventory, cluster)),
  reason(['minors-apart'], ({ inventory, cluster, hops, isChosen }) =>
    apartAfterwards(inventory, cluster, hops, isChosen),
  ),
  reason(['minors-apart'], ({ inventory, cluster, hops, isChosen }) =>
    oldKubelets(inventory, cluster, hops, ({ name, role }) => role === 'control-plane' && isChosen(name)),
  ),
  reason(['unnamed-control-plane'], ({ inventory, cluster }) => unnamedControlPlanes(inventory, cluster)),
  reason(['settings-not-applied'], ({ inventory, cluster }) => editedSettings(inventory, cluster)),
  reason(['runtime-changed'], ({ inventory, fleet }) =>
    fleet.hosts.flatMap((observed) => runtimeRefusal(inventory, observed) ?? []),
  ),
  reason(['cgroup-driver-unfinished'], ({ inventory, fleet }) => pendingDrivers(inventory, fleet)),
  reason(['handler-in-use'], ({ inventory, fleet }) => handlersInUse(inventory, fleet)),
  reason(['rotation-under-way'], ({ inventory, fleet }) => duringRotation(inventory, fleet, 'kubeadm cannot upgrade')),
  reason(['unreadable-marker', 'unfinished-action'], ({ fleet }) => unfinishedActions(fleet, 'upgrade', UPGRADE)),
  reason(['runtime-misfit', 'etcd-too-old'], ({ inventory, hops }) => pinned(inventory, hops)),
  reason(['cgroup-v1'], ({ inventory, fleet, cluster, hops }) => cgroupV1(inventory, fleet, cluster, hops)),
  reason(['etcd-too-old'], ({ inventory, fleet }) => ownEtcd(inventory, fleet)),
  reason(['etcd-copy-space'], ({ inventory, fleet, cluster }) => backupRoom(inventory, fleet, cluster)),
  reason(['removed-setting'], ({ inventory, fleet, cluster }) => removedRefusals(inventory, fleet, cluster)),
];

/**
 * Why `upgrade` may not start, all reasons at once; empty if it may. `hops`: the versions to go through, from `hopsOf`.
 * `isChosen`: the hosts that the run upgrades. Of an etcd that the user runs only the version counts: kbuild does not
 * observe its settings. The reasons of `changeRefusals` come on top. Throws `FactError` when a fact that it needs is
 * unknown.
 */
export function upgradeRefusals(
  inventory: Inventory,
  fleet: Fleet,
  hops: readonly string[],
  isChosen: IsChosen = () => true,
): readonly KbuildError[] {
  return refusedOfLive(upgradeReasons, { inventory, fleet, hops, isChosen });
}
