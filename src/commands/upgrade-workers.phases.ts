import type { Fleet } from '../cluster/fleet/fleet.ts';
import { isNoted } from '../cluster/nodes.ts';
import { type AnyTarget, registeredNode } from '../engine/drain.ts';
import { linux } from '../engine/phases.ts';
import { inBatches, rolling, type RollOptions } from '../engine/rolling.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { kubeadmPatches } from '../kubeadm/patches.step.ts';
import { nodeReady } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { runtimeSteps } from '../runtime/runtimes.step.ts';
import type { Hop } from '../upgrade/hop.ts';
import { kubeadmPackage, linuxUpgradeRoll, othersUpgraded } from '../upgrade/node.step.ts';
import { isMarked, marked, unmarked } from '../upgrade/old-workers.step.ts';
import { hasOldKubelet, isBehind } from '../upgrade/versions.ts';

/** Workers that are older than the hop, or that an upgrade has left halfway. */
function dueWorkers(inventory: Inventory, fleet: Fleet, hop: Hop): readonly LinuxHost[] {
  const nodes = new Map(fleet.cluster.state === 'up' ? fleet.cluster.nodes.map((node) => [node.name, node]) : []);
  return linuxWorkers(inventory).filter((host) => {
    const node = nodes.get(host.name);
    return isBehind({ host, fleet }, hop) || isNoted(node) || isMarked(node);
  });
}

/**
 * Workers that are older than the hop: one alone first, then batches, each of which is cordoned as a whole before a node of it is
 * drained. A batch that fails ends those after it.
 */
export function workerPhases(inventory: Inventory, fleet: Fleet, hop: Hop, options: RollOptions): readonly Phase[] {
  const due = dueWorkers(inventory, fleet, hop);
  const isOld = (target: AnyTarget): boolean => {
    const node = registeredNode(target);
    return node !== undefined && hasOldKubelet(node, hop.version);
  };
  // Alone, a worker has no other one that pods could prefer.
  const marks: readonly Step[] = due.length < 2 ? [] : [marked(isOld)];
  const turns = inBatches(
    due,
    { atOnce: options.atOnce, first: 'canary', cordons: options.drain !== 'no' },
    ({ number, which }) =>
      number === 0
        ? { name: 'canary', title: `Upgrade the first worker to ${hop.version}` }
        : { name: `workers-${String(number)}`, title: `Upgrade workers, ${which}` },
  );
  const roll = linuxUpgradeRoll(hop, options, {
    before: [jobEnded, kubeadmPatches, kubeadmPackage(hop)],
    whileDrained: runtimeSteps(inventory),
    gates: [nodeReady, networkReady],
    last: [unmarked((target) => marks.length > 0 && isOld(target))],
  });
  return [
    ...(marks.length === 0
      ? []
      : [linux('old-workers', 'Mark workers that are older', due, marks, { concurrency: due.length })]),
    ...rolling('linux', turns, { ...roll, othersBack: (hosts) => othersUpgraded(hop, hosts) }),
  ];
}
