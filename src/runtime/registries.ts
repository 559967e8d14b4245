import { containerRuntime } from '../components/runtimes/index.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { fileChanges, type WantedFile } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { script } from '../templates.ts';

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
      apply: runs(host, script('linux/remove-from-folder.sh', { FILE: path, FOLDER: folder })),
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
