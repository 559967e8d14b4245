import type { Step } from '../engine/step.ts';
import { containerRuntime } from '../components/runtimes/index.ts';

/** Proves that the runtime's effective configuration, with imports and defaults, has the inventory's settings. */
export const runtimeProved: Step = {
  name: 'runtime-proved',
  diff: ({ inventory, facts }) => {
    const found = facts.runtimeConfig;
    // Without the runtime, the steps before this one have pending changes.
    if (found === 'absent') return [];
    const { title, sandboxImage } = containerRuntime(inventory);
    if (found === 'invalid') return [{ summary: `have ${title} accept its configuration (found it refused)` }];
    const driver = inventory.runtime.cgroupDriver;
    const sandbox = sandboxImage(inventory);
    return [
      ...(found.criDisabled ? [{ summary: `have ${title} offer CRI (found the plugin disabled)` }] : []),
      ...(found.cgroupDriver === driver
        ? []
        : [{ summary: `have ${title} use the cgroup driver ${driver} (found ${found.cgroupDriver})` }]),
      ...(inventory.runtime.selinux && found.labels === false
        ? [{ summary: `have ${title} label containers for SELinux (found that switched off)` }]
        : []),
      ...(found.handlers === undefined ? [] : inventory.runtime.handlers)
        .filter(({ name }) => found.handlers?.includes(name) !== true)
        .map(({ name }) => ({ summary: `have ${title} know the handler ${name} (found none)` })),
      ...(found.sandboxImage === sandbox
        ? []
        : [{ summary: `have ${title} use the sandbox image ${sandbox} (found ${found.sandboxImage || 'none'})` }]),
    ];
  },
};
