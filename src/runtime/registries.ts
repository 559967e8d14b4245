import { containerRuntime } from '../components/runtimes/index.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { fileChanges, type WantedFile } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { script } from '../templates.ts';

/** Removes files of a folder that kbuild owns whole if no registry of the inventory has them. */
function unwanted({ facts, host }: Target, folder: string, wanted: readonly WantedFile[]): readonly Change[] {
  const kept = new Set(wanted.map(({ path }) => path));
  return [...facts.files]
    .filter(([path, { kind }]) => kind === 'file' && path.startsWith(`${folder}/`) && !kept.has(path))
    .map(([path]) => ({
      summary: `remove ${path} (no registry of the inventory has it)`,
      apply: runs(host, script('linux/remove-from-folder.sh', { FILE: path, FOLDER: folder })),
    }));
}

/** How the runtime reaches registries: mirrors, private CAs, logins. It reads these files at every pull. */
export const registries: Step = {
  name: 'registries',
  watches: ({ inventory }) => {
    const { registryFiles, registriesFolder } = containerRuntime(inventory);
    return registriesFolder === undefined
      ? { files: registryFiles(inventory.runtime.registries).map(({ path }) => path) }
      : { trees: [registriesFolder] };
  },
  diff: (target) => {
    const { inventory } = target;
    const { registryFiles, registriesFolder } = containerRuntime(inventory);
    const wanted = registryFiles(inventory.runtime.registries);
    return [
      ...wanted.flatMap((one) => fileChanges(target, one)),
      ...(registriesFolder === undefined ? [] : unwanted(target, registriesFolder, wanted)),
    ];
  },
};
