import { observedLinux } from '../cluster/fleet/fleet.ts';
import type { NodeChange } from '../engine/rolling.ts';
import type { Phase, Target } from '../engine/step.ts';
import { etcdByDriver } from '../etcd/kubelet.step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { etcdHosts, inventoryOn } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { corednsSpread, spreadAfterDrains } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { kubeletByRuntime, podsByDriver } from '../kubeadm/kubelet.step.ts';
import { cgroupProved, nodeReady } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { drainsForRuntime, runtimeRoll } from '../runtime/rolling.step.ts';
import { watchingRuntime } from '../runtime/version.step.ts';

/** What brings a joined host to an edited `runtime.version` and `runtime.cgroupDriver`. */
export const runtimeVersion = (inventory: Inventory): NodeChange<'linux'> =>
  runtimeRoll(inventory, {
    before: [jobEnded],
    byRuntime: kubeletByRuntime,
    byDriver: [podsByDriver, ...(etcdHosts(inventory).length === 0 ? [] : [etcdByDriver])],
    gates: [nodeReady, controlPlaneServes, networkReady, cgroupProved],
  });

/** True while the runtime of some node changes, for which the node is drained. */
const someDrain = ({ inventory, fleet }: Target): boolean =>
  fleet.cluster.state === 'up' &&
  fleet.cluster.nodes.length > 1 &&
  observedLinux(fleet).some(
    ({ host, facts }) =>
      (host.role === 'worker' || host.role === 'control-plane') &&
      drainsForRuntime({ inventory: inventoryOn(inventory, host), host, facts, fleet }),
  );

/** The phases that verify the cluster after the runtime has changed. */
export const verifiedAfterRuntime = (phases: readonly Phase[]): readonly Phase[] =>
  spreadAfterDrains(phases, someDrain).map((phase) =>
    phase.kind === 'linux'
      ? {
          ...phase,
          steps: phase.steps.map((step) => (step.name === corednsSpread.name ? watchingRuntime(step) : step)),
        }
      : phase,
  );
