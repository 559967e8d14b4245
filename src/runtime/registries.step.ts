import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { fileChanges, type WantedFile } from '../host/file.step.ts';
import { script } from '../templates.ts';
import { containerRuntime } from './runtimes.value.ts';

/** Removes the files of kbuild in the folder of registries that no registry of the inventory has. */
function unwanted({ inventory, facts, host }: Target, wanted: readonly WantedFile[]): readonly Change[] {
  const { path: folder, use } = containerRuntime(inventory).registriesFolder;
  const kept = new Set(wanted.map(({ path }) => path));
  const own =
    use === 'shared' ? facts.ownFiles : [...facts.files].flatMap(([path, { kind }]) => (kind === 'file' ? [path] : []));
  return own
    .filter((path) => path.startsWith(`${folder}/`) && !kept.has(path))
    .map((path) => ({
      summary: `remove ${path} (no registry of the inventory has it)`,
      apply: runs(host, script('runtime/remove-from-folder.sh', { FILE: path, FOLDER: folder })),
    }));
}

/** How the runtime reaches registries: mirrors, private CAs, logins. It reads these files at every pull. */
export const registries: Step = {
  name: 'registries',
  watches: ({ inventory }) => {
    const { registryFiles, registriesFolder } = containerRuntime(inventory);
    return registriesFolder.use === 'shared'
      ? { files: registryFiles(inventory.runtime.registries).map(({ path }) => path) }
      : { trees: [registriesFolder.path] };
  },
  diff: (target) => {
    const { inventory } = target;
    const wanted = containerRuntime(inventory).registryFiles(inventory.runtime.registries);
    return [...wanted.flatMap((file) => fileChanges(target, file)), ...unwanted(target, wanted)];
  },
};

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
