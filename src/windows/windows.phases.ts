import { windowsKubeletServing } from '../certificates/kubelet-serving.step.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { servesByCluster } from '../kubeadm/kubelet-serving.value.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.step.ts';
import { podsDeleted } from '../kubeadm/register-node.step.ts';
import { undoMayBegin } from '../kubeadm/undo.step.ts';
import { windowsContainerdAtRest } from './containerd.step.ts';
import { environment } from './environment.step.ts';
import { features, restarted } from './features.step.ts';
import { firewall } from './firewall.step.ts';
import {
  joinWindows,
  noStaleNetworkState,
  noWindowsMarker,
  undoHalfFinished,
  windowsKubeadmPatches,
} from './join.step.ts';
import { kubeletRuns, windowsKubeletSettings } from './kubelet.step.ts';
import { windowsKubernetes } from './kubernetes.step.ts';
import { windowsHostNetwork, windowsNetwork } from './network/plugins.step.ts';
import { windowsNodeReady, windowsNodeRegistered, windowsPodsReady } from './ready.step.ts';
import { rollingContainerd } from './rolling-containerd.step.ts';
import { runtimeClasses } from './runtime-classes.step.ts';

/** Prepare a Windows host for a container runtime. */
export const windowsPrepareSteps: readonly Step<'windows'>[] = [features, restarted, environment, firewall];

/** Join a Windows worker, after a join that did not end was undone. */
export const windowsJoinSteps: readonly Step<'windows'>[] = [
  undoHalfFinished,
  noStaleNetworkState,
  windowsKubeadmPatches,
  joinWindows,
  noWindowsMarker,
];

/** Configure the kubelet of a joined Windows host, and start it. */
export const windowsKubeletSteps: readonly Step<'windows'>[] = [windowsKubeletSettings, kubeletRuns];

/** Apply the objects that Windows hosts need in the cluster: their network and their RuntimeClasses. */
export const windowsObjectSteps: readonly Step<'cluster'>[] = [windowsNetwork, runtimeClasses];

/** Wait until a Windows node and the pods of its network are ready. */
export const windowsVerifySteps: readonly Step<'windows'>[] = [windowsNodeReady, windowsPodsReady];

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
