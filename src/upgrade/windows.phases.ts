import type { Fleet } from '../cluster/fleet/fleet.ts';
import { isNoted } from '../cluster/nodes.ts';
import { cluster, OVERLAPS, windows } from '../engine/phases.ts';
import { inBatches, rolling, type RollOptions } from '../engine/rolling.ts';
import type { Phase } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { controlPlanes, windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { atHop, type Hop } from './hop.ts';
import { othersUpgraded } from './node.step.ts';
import { isBehind } from './versions.ts';
import { windowsFetched, windowsImagesFetched, windowsNothingFetched } from './windows-programs.step.ts';
import { windowsKubeProxyPods, windowsUpgradeRoll } from './windows.step.ts';

/**
 * Downloads the programs and images of the last hop, beside the downloads of Linux hosts: a worker goes there at once.
 */
export const windowsFetchPhase = (inventory: Inventory, hop: Hop): Phase => {
  const steps = [
    jobEnded,
    atHop<'windows'>(hop, windowsFetched(hop)),
    atHop<'windows'>(hop, windowsImagesFetched(hop)),
  ];
  return windows(
    'windows-fetch',
    'Download programs and images to Windows hosts',
    windowsHosts(inventory),
    steps,
    OVERLAPS,
  );
};

/**
 * Upgrades Windows workers that are older than the hop: one alone first, then batches, then their kube-proxy, if it
 * runs in pods. A batch that fails ends those after it.
 */
export function windowsWorkerPhases(
  inventory: Inventory,
  fleet: Fleet,
  hop: Hop,
  options: RollOptions,
): readonly Phase[] {
  const nodes = new Map(fleet.cluster.state === 'up' ? fleet.cluster.nodes.map((node) => [node.name, node]) : []);
  const due = windowsHosts(inventory).filter((host) => isBehind({ host, fleet }, hop) || isNoted(nodes.get(host.name)));
  const turns = inBatches(due, { atOnce: options.atOnce, first: 'canary', cordons: false }, ({ number, which }) =>
    number === 0
      ? { name: 'windows-canary', title: `Upgrade the first Windows worker to ${hop.version}` }
      : { name: `windows-workers-${String(number)}`, title: `Upgrade Windows workers, ${which}` },
  );
  return [
    ...rolling('windows', turns, {
      ...windowsUpgradeRoll(hop, options),
      othersBack: (hosts) => othersUpgraded(hop, hosts),
    }),
    cluster(
      'windows-kube-proxy',
      'Upgrade kube-proxy of Windows hosts',
      windowsHosts(inventory).length === 0 ? [] : controlPlanes(inventory),
      [othersUpgraded(hop, windowsHosts(inventory)), atHop<'cluster'>(hop, windowsKubeProxyPods)],
    ),
  ];
}

/** Removes from Windows hosts what only the upgrade needed. */
export const windowsSettlePhase = (inventory: Inventory, hop: Hop): Phase =>
  windows(
    'windows-settle',
    'Remove what only the upgrade needed from Windows hosts',
    windowsHosts(inventory),
    [atHop<'windows'>(hop, windowsNothingFetched(hop))],
    OVERLAPS,
  );
