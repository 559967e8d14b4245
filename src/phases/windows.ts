import type { Phase } from '../engine/step.ts';
import { jobEnded } from '../node/running-work.ts';
import { windowsKubeletServing } from '../kubeadm/kubelet-serving.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.ts';
import { podsDeleted } from '../kubeadm/registered-again.ts';
import { undoMayBegin } from '../kubeadm/undo-half-finished.ts';
import type { Inventory } from '../model/inventory.ts';
import { servesByCluster } from '../model/kubelet-serving.ts';
import { windowsHosts } from '../topology/select.ts';
import { windowsContainerdAtRest } from '../windows/containerd.ts';
import { windowsKubernetes } from '../windows/kubernetes.ts';
import { windowsHostNetwork } from '../windows/network/index.ts';
import { windowsJoinSteps, windowsKubeletSteps, windowsPrepareSteps, windowsVerifySteps } from '../windows/steps.ts';
import { rollingContainerd } from '../windows/rolling-containerd.ts';
import { windowsNodeRegistered } from '../windows/verify.ts';

/** Phases of Windows hosts, which run beside those of Linux hosts. None if the inventory has no Windows hosts. */
function onWindows(
  inventory: Inventory,
  phases: readonly Pick<Phase<'windows'>, 'name' | 'title' | 'steps' | 'verifies'>[],
): readonly Phase[] {
  const hosts = windowsHosts(inventory);
  if (hosts.length === 0) return [];
  return phases.map((phase) => ({ kind: 'windows', hosts, overlaps: true, ...phase }));
}

/** Prepares Windows hosts for their join. */
export const windowsPreparePhases = (inventory: Inventory): readonly Phase[] =>
  onWindows(inventory, [
    { name: 'windows-prepare', title: 'Prepare Windows hosts', steps: [jobEnded, ...windowsPrepareSteps] },
    { name: 'windows-runtime', title: 'Install the container runtime on Windows', steps: windowsContainerdAtRest },
    { name: 'windows-packages', title: 'Install Kubernetes on Windows', steps: windowsKubernetes },
  ]);

/** Joins Windows hosts to the cluster and its network. */
export const windowsJoinPhases = (inventory: Inventory): readonly Phase[] =>
  onWindows(inventory, [
    {
      name: 'windows-join',
      title: 'Join Windows workers',
      steps: [undoMayBegin, ...windowsJoinSteps, podsDeleted, windowsNodeRegistered, ...windowsHostNetwork(inventory)],
    },
  ]);

/** Applies settings of joined Windows nodes. */
export const windowsNodePhases = (inventory: Inventory): readonly Phase[] =>
  onWindows(inventory, [
    {
      name: 'windows-nodes',
      title: 'Label Windows nodes',
      steps: [
        ...windowsKubeletSteps,
        ...(windowsHosts(inventory).some(servesByCluster) ? [windowsKubeletServing] : []),
        labelsAndTaints,
      ],
    },
  ]);

/** How long the drain of a node may take, in ms, as for the runtime of Linux hosts. */
const DRAIN_MS = 5 * 60_000;

/** Changes containerd of joined Windows hosts to an edited version, one host at a time. */
export const windowsRuntimePhases = (inventory: Inventory): readonly Phase[] =>
  onWindows(inventory, [
    {
      name: 'windows-runtime-version',
      title: 'Change the version of containerd on Windows',
      steps: [jobEnded, ...rollingContainerd({ timeoutMs: DRAIN_MS })],
    },
  ]).map(({ overlaps: _, ...phase }): Phase => ({ ...phase, concurrency: 1 }));

/** Verifies that Windows nodes work. */
export const windowsVerifyPhases = (inventory: Inventory): readonly Phase[] =>
  onWindows(inventory, [
    { name: 'windows-verify', title: 'Verify Windows nodes', steps: windowsVerifySteps, verifies: true },
  ]);
