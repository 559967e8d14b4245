import type { Step } from '../engine/step.ts';
import { sandboxImage } from './containerd-config.ts';

/** What containerd makes of its configuration, imports and defaults included, is what the inventory says. */
export const runtimeProved: Step = {
  name: 'runtime-proved',
  diff: ({ inventory, facts }) => {
    const found = facts.runtimeConfig;
    // Without containerd the steps before have not been done, and they say so.
    if (found === 'absent') return [];
    if (found === 'invalid') return [{ summary: 'have containerd accept its configuration (found it refused)' }];
    const driver = inventory.runtime.cgroupDriver;
    const sandbox = sandboxImage(inventory);
    return [
      ...(found.criDisabled ? [{ summary: 'have containerd offer CRI (found the plugin disabled)' }] : []),
      ...(found.cgroupDriver === driver
        ? []
        : [{ summary: `have containerd use the cgroup driver ${driver} (found ${found.cgroupDriver})` }]),
      ...(found.sandboxImage === sandbox
        ? []
        : [{ summary: `have containerd use the sandbox image ${sandbox} (found ${found.sandboxImage || 'none'})` }]),
    ];
  },
};
