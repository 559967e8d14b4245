import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { NodeView } from '../cluster/fleet/view.ts';
import { isNoted } from '../cluster/nodes.ts';
import { cordonStep } from '../engine/drain.ts';
import { linux } from '../engine/phases.ts';
import { type Batch, batchesOf, cordonsFirst, type RollOptions } from '../engine/rolling.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { kubeadmPatches } from '../kubeadm/patches.step.ts';
import { nodeReady } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { runtimeSteps } from '../runtime/runtimes.step.ts';
import { atHop, type Hop } from '../upgrade/hop.ts';
import { kubeadmPackage, nodeSteps, othersUpgraded } from '../upgrade/node.step.ts';
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
  const isOld = (node: NodeView): boolean => hasOldKubelet(node, hop.version);
  // Alone, a worker has no other one that pods could prefer.
  const marks: readonly Step[] = due.length < 2 ? [] : [marked(isOld)];
  const at = (steps: readonly Step[]): readonly Step[] => steps.map((step) => atHop<'linux'>(hop, step));
  const steps = at([
    jobEnded,
    kubeadmPatches,
    kubeadmPackage(hop),
    ...nodeSteps(hop, options, {
      whileDrained: runtimeSteps(inventory),
      gates: [nodeReady, networkReady],
      last: [unmarked((node) => marks.length > 0 && isOld(node))],
    }),
  ]);
  const ofBatch = (batch: Batch<LinuxHost>): readonly Phase[] => {
    const { hosts, number, which } = batch;
    const [back, concurrency, name] = [othersUpgraded(hop, hosts), hosts.length, `workers-${String(number)}`];
    const all = [back, ...steps];
    if (number === 0)
      return [linux('canary', `Upgrade the first worker to ${hop.version}`, hosts, all, { concurrency })];
    const how = { concurrency, batch: name };
    const cordon = [back, cordonStep(isOld)];
    return [
      ...(cordonsFirst(batch, options)
        ? [linux(`cordon-${String(number)}`, `Cordon workers, ${which}`, hosts, cordon, how)]
        : []),
      linux(name, `Upgrade workers, ${which}`, hosts, all, { concurrency }),
    ];
  };
  return [
    ...(marks.length === 0
      ? []
      : [linux('old-workers', 'Mark workers that are older', due, marks, { concurrency: due.length })]),
    ...batchesOf(due, options.atOnce, 'canary').flatMap(ofBatch),
  ];
}
