import { windowsKubeletServing } from '../certificates/kubelet-serving.step.ts';
import type { Step } from '../engine/step.ts';
import { windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { servesByCluster } from '../kubeadm/kubelet-serving.value.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.step.ts';
import { podsDeleted } from '../kubeadm/register-node.step.ts';
import { undoMayBegin } from '../kubeadm/undo.step.ts';
import { windowsContainerdAtRest } from './containerd.step.ts';
import { environment } from './environment.step.ts';
import {
  joinWindows,
  noStaleNetworkState,
  noWindowsMarker,
  undoHalfFinished,
  windowsKubeadmPatches,
} from './join.step.ts';
import { kubeletRuns, windowsKubeletSettings } from './kubelet.step.ts';
import { features, firewall, restarted } from './machine.step.ts';
import { windowsHostNetwork, windowsNetwork } from './network/plugins.step.ts';
import { windowsNodeReady, windowsNodeRegistered, windowsPodsReady } from './ready.step.ts';
import { runtimeClasses } from './runtime-classes.step.ts';

/** Prepare a Windows host for a container runtime. */
export const windowsPrepareSteps: readonly Step<'windows'>[] = [features, restarted, environment, firewall];

/** Install the container runtime of a Windows host whose node runs no pods on it. */
export const windowsRuntimeSteps: readonly Step<'windows'>[] = windowsContainerdAtRest;

/** Join a Windows worker to the cluster and its network, after a join that did not end was undone. */
export const windowsJoinSteps = (inventory: Inventory): readonly Step<'windows'>[] => [
  undoMayBegin,
  undoHalfFinished,
  noStaleNetworkState,
  windowsKubeadmPatches,
  joinWindows,
  noWindowsMarker,
  podsDeleted,
  windowsNodeRegistered,
  ...windowsHostNetwork(inventory),
];

/** Configure the kubelet of a joined Windows host, start it, and apply the settings of its node. */
export const windowsNodeSteps = (inventory: Inventory): readonly Step<'windows'>[] => [
  windowsKubeletSettings,
  kubeletRuns,
  ...(windowsHosts(inventory).some(servesByCluster) ? [windowsKubeletServing] : []),
  labelsAndTaints,
];

/** Apply the objects that Windows hosts need in the cluster: their network and their RuntimeClasses. */
export const windowsObjectSteps: readonly Step<'cluster'>[] = [windowsNetwork, runtimeClasses];

/** Wait until a Windows node and the pods of its network are ready. */
export const windowsVerifySteps: readonly Step<'windows'>[] = [windowsNodeReady, windowsPodsReady];

/** The title of the phase in which containerd of joined Windows hosts changes to an edited version. */
export const windowsRuntimeTitle = 'Change the version of containerd on Windows';
