import type { Fleet } from '../cluster/fleet/fleet.ts';
import { isNoted } from '../cluster/nodes.ts';
import { OVERLAPS, windows } from '../engine/phases.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { controlPlanes, windowsHosts } from '../inventory/hosts.ts';
import type { Inventory, WindowsHost } from '../inventory/inventory.ts';
import { atHop, type Hop, inBatches } from './hop.ts';
import { type NodeOptions, othersAreBack } from './node.step.ts';
import { isBehind } from './versions.ts';
import { windowsFetched, windowsImagesFetched, windowsNothingFetched } from './windows-programs.step.ts';
import { windowsKubeProxyPods, windowsNodeSteps } from './windows.step.ts';

/** Downloads the programs and images of the last hop, beside the downloads of Linux hosts: a worker goes there at once. */
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
 * Upgrades Windows workers that are older than the hop: one alone first, then batches, then their kube-proxy, if it runs in pods. A
 * batch that fails ends those after it.
 */
export function windowsWorkerPhases(
  inventory: Inventory,
  fleet: Fleet,
  hop: Hop,
  options: NodeOptions,
): readonly Phase[] {
  const nodes = new Map(fleet.cluster.state === 'up' ? fleet.cluster.nodes.map((node) => [node.name, node]) : []);
  const [canary, ...others] = windowsHosts(inventory).filter(
    (host) => isBehind({ host, fleet }, hop) || isNoted(nodes.get(host.name)),
  );
  const steps: readonly Step<'windows'>[] = [jobEnded, ...windowsNodeSteps(hop, options)].map((step) =>
    atHop<'windows'>(hop, step),
  );
  const batches = inBatches(others, options.atOnce);
  const phase = (name: string, title: string, hosts: readonly WindowsHost[]): Phase => ({
    name: `windows-${name}`,
    title,
    kind: 'windows',
    hosts,
    steps: [othersAreBack(hop, hosts), ...steps],
    concurrency: Math.max(1, hosts.length),
  });
  return [
    phase('canary', `Upgrade the first Windows worker to ${hop.version}`, canary === undefined ? [] : [canary]),
    ...batches.map((hosts, at) =>
      phase(
        `workers-${String(at + 1)}`,
        `Upgrade Windows workers, batch ${String(at + 1)} of ${String(batches.length)}`,
        hosts,
      ),
    ),
    {
      name: 'windows-kube-proxy',
      title: 'Upgrade kube-proxy of Windows hosts',
      kind: 'cluster',
      hosts: windowsHosts(inventory).length === 0 ? [] : controlPlanes(inventory),
      steps: [othersAreBack(hop, windowsHosts(inventory)), atHop<'cluster'>(hop, windowsKubeProxyPods)],
    },
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
