import type { Step } from '../engine/step.ts';
import { kubeletSettings } from './kubelet-settings.ts';
import { kubeadmPatches } from './patches.ts';

/** Gives the kubelet of a host the settings that the runtime of its pods needs, and takes those of another one away. */
export const kubeletByRuntime: Step = {
  ...kubeadmPatches,
  ...kubeletSettings,
  name: 'kubelet-by-runtime',
  // A control plane that serves alone is away while its own pods start on the other runtime.
  settleMs: 5 * 60_000,
  diff: (target) => [...kubeadmPatches.diff(target), ...kubeletSettings.diff(target)],
};
