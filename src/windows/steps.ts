import type { Step } from '../engine/step.ts';
import { environment } from './environment.ts';
import { features, restarted } from './features.ts';
import { firewall } from './firewall.ts';
import { joinWindows, noStaleNetworkState, noWindowsMarker, undoHalfFinished, windowsKubeadmPatches } from './join.ts';
import { windowsKubeletSettings } from './kubelet-settings.ts';
import { kubeletRuns } from './kubelet.ts';
import { windowsNetwork } from './network/index.ts';
import { runtimeClasses } from './runtime-classes.ts';
import { windowsNodeReady, windowsPodsReady } from './verify.ts';

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
