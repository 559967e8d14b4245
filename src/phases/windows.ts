import type { Phase } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { windowsHosts } from '../topology/select.ts';
import { jobEnded } from '../kubeadm/job-ended.ts';
import { undoMayBegin } from '../kubeadm/undo-half-finished.ts';
import { podsDeleted } from '../kubeadm/registered-again.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.ts';
import { windowsContainerd } from '../windows/containerd.ts';
import { environment } from '../windows/environment.ts';
import { features, restarted } from '../windows/features.ts';
import { firewall } from '../windows/firewall.ts';
import {
  joinWindows,
  noStaleNetworkState,
  noWindowsMarker,
  undoHalfFinished,
  windowsKubeadmPatches,
} from '../windows/join.ts';
import { kubeletRuns } from '../windows/kubelet.ts';
import { windowsKubeletSettings } from '../windows/kubelet-settings.ts';
import { windowsKubernetes } from '../windows/kubernetes.ts';
import { windowsHostNetwork } from '../windows/network/index.ts';
import { windowsNodeReady, windowsNodeRegistered, windowsPodsReady } from '../windows/verify.ts';

/** What `up` does with Windows hosts; nothing where there are none. They go beside the Linux hosts, at their own pace. */
export function windowsPhases(
  inventory: Inventory,
): Readonly<Record<'prepare' | 'join' | 'nodes' | 'verify', readonly Phase[]>> {
  const hosts = windowsHosts(inventory);
  if (hosts.length === 0) return { prepare: [], join: [], nodes: [], verify: [] };
  const windows = { kind: 'windows', hosts, overlaps: true } as const;
  return {
    prepare: [
      {
        name: 'windows-prepare',
        title: 'Prepare Windows hosts',
        ...windows,
        steps: [jobEnded, features, restarted, environment, firewall],
      },
      {
        name: 'windows-runtime',
        title: 'Install the container runtime on Windows',
        ...windows,
        steps: windowsContainerd,
      },
      { name: 'windows-packages', title: 'Install Kubernetes on Windows', ...windows, steps: windowsKubernetes },
    ],
    join: [
      {
        name: 'windows-join',
        title: 'Join Windows workers',
        ...windows,
        steps: [
          undoMayBegin,
          undoHalfFinished,
          noStaleNetworkState,
          windowsKubeadmPatches,
          joinWindows,
          noWindowsMarker,
          podsDeleted,
          windowsNodeRegistered,
          ...windowsHostNetwork(inventory),
        ],
      },
    ],
    nodes: [
      {
        name: 'windows-nodes',
        title: 'Label Windows nodes',
        ...windows,
        steps: [windowsKubeletSettings, kubeletRuns, labelsAndTaints],
      },
    ],
    verify: [
      {
        name: 'windows-verify',
        title: 'Verify Windows nodes',
        ...windows,
        steps: [windowsNodeReady, windowsPodsReady],
        verifies: true,
      },
    ],
  };
}
