import { observedLinux } from '../cluster/fleet/fleet.ts';
import type { Phase, Target } from '../engine/step.ts';
import { etcdByDriver } from '../etcd/kubelet.step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { controlPlanes, etcdHosts, inventoryOn, linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { corednsSpread, spreadAfterDrains } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { kubeletByRuntime, podsByDriver } from '../kubeadm/kubelet.step.ts';
import { cgroupProved, nodeReady } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { drainsForRuntime, rollingRuntimeSteps } from '../runtime/rolling.step.ts';
import { watchingRuntime } from '../runtime/version.step.ts';

/**
 * Changes the runtime of joined hosts to an edited `runtime.version` and `runtime.cgroupDriver`, one host at a time. Workers come first: what breaks there
 * breaks no control plane.
 */
export const runtimePhases = (inventory: Inventory): readonly Phase[] => [
  {
    name: 'runtime-version',
    title: 'Change the container runtime',
    kind: 'linux',
    hosts: [...linuxWorkers(inventory), ...etcdHosts(inventory), ...controlPlanes(inventory)],
    steps: [
      jobEnded,
      ...rollingRuntimeSteps(
        inventory,
        { timeoutMs: inventory.rollout.drainTimeoutMs },
        {
          byRuntime: kubeletByRuntime,
          byDriver: [podsByDriver, ...(etcdHosts(inventory).length === 0 ? [] : [etcdByDriver])],
          gates: [nodeReady, controlPlaneServes, networkReady, cgroupProved],
        },
      ),
    ],
    concurrency: 1,
  },
];

/** True while the runtime of some node changes, for which the node is drained. */
const someDrain = ({ inventory, fleet }: Target): boolean =>
  fleet.cluster.state === 'up' &&
  fleet.cluster.nodes.length > 1 &&
  observedLinux(fleet).some(
    ({ host, facts }) =>
      (host.role === 'worker' || host.role === 'control-plane') &&
      drainsForRuntime({ inventory: inventoryOn(inventory, host), host, facts, fleet }),
  );

/** The phases that verify the cluster after `runtimePhases`. */
export const verifiedAfterRuntime = (phases: readonly Phase[]): readonly Phase[] =>
  spreadAfterDrains(phases, someDrain).map((phase) =>
    phase.kind === 'linux'
      ? {
          ...phase,
          steps: phase.steps.map((step) => (step.name === corednsSpread.name ? watchingRuntime(step) : step)),
        }
      : phase,
  );
