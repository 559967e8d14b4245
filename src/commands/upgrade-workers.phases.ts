import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { NodeView } from '../cluster/fleet/view.ts';
import { isNoted } from '../cluster/nodes.ts';
import { cordonStep } from '../engine/drain.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { kubeadmPatches } from '../kubeadm/patches.step.ts';
import { nodeReady } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { runtimeSteps } from '../runtime/runtimes.step.ts';
import { atHop, type Hop, inBatches } from '../upgrade/hop.ts';
import { kubeadmPackage, type NodeOptions, nodeSteps, othersAreBack } from '../upgrade/node.step.ts';
import { isMarked, marked, unmarked } from '../upgrade/old-workers.step.ts';
import { hasOldKubelet, isBehind } from '../upgrade/versions.ts';

/** Some workers at once, and what they take. */
interface Batch {
  readonly name: string;
  readonly title: string;
  readonly hosts: readonly LinuxHost[];
  readonly steps: readonly Step[];
  /** As that of a phase. */
  readonly batch?: string;
}

const phaseOf = (batch: Batch): Phase => ({ ...batch, kind: 'linux', concurrency: batch.hosts.length });

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
export function workerPhases(inventory: Inventory, fleet: Fleet, hop: Hop, options: NodeOptions): readonly Phase[] {
  const due = dueWorkers(inventory, fleet, hop);
  const [canary, ...others] = due;
  if (canary === undefined) return [];
  const isOld = (node: NodeView): boolean => hasOldKubelet(node, hop.version);
  // Alone, a worker has no other one that pods could prefer.
  const marks: readonly Step[] = others.length === 0 ? [] : [marked(isOld)];
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
  const batches = inBatches(others, options.atOnce);
  const ofBatch = (hosts: readonly LinuxHost[], number: number): readonly Phase[] => {
    const name = String(number + 1);
    const which = `batch ${name} of ${String(batches.length)}`;
    const back = othersAreBack(hop, hosts);
    const cordon = {
      name: `cordon-${name}`,
      title: `Cordon workers, ${which}`,
      hosts,
      steps: [back, cordonStep(isOld)],
      batch: `workers-${name}`,
    };
    return [
      // A worker alone is cordoned by its own drain.
      ...(hosts.length === 1 || options.drain === 'no' ? [] : [phaseOf(cordon)]),
      phaseOf({ name: `workers-${name}`, title: `Upgrade workers, ${which}`, hosts, steps: [back, ...steps] }),
    ];
  };
  return [
    ...(marks.length === 0
      ? []
      : [phaseOf({ name: 'old-workers', title: 'Mark workers that are older', hosts: due, steps: marks })]),
    phaseOf({
      name: 'canary',
      title: `Upgrade the first worker to ${hop.version}`,
      hosts: [canary],
      steps: [othersAreBack(hop, [canary]), ...steps],
    }),
    ...batches.flatMap(ofBatch),
  ];
}
