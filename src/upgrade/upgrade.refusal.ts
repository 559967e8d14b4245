import { duringRotation } from '../certificates/rotation.refusal.ts';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import { refusedOfLive, type SeenLive } from '../cluster/live.ts';
import { reason, type Reason } from '../cluster/reasons.ts';
import type { KbuildError } from '../errors.ts';
import { unfinishedActions } from '../host/unfinished.refusal.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { UPGRADE } from '../kubeadm/marker.facts.ts';
import { handlersInUse } from '../runtime/handlers.refusal.ts';
import { runtimeRefusal } from '../runtime/runtime-change.ts';
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
import { removedRefusals } from './removed.refusal.ts';
import { oldKubelets } from './versions.ts';

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
