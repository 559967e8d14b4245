import type { Change, Step, Target } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { fileChanges, type WantedFile } from '../resources/file.ts';
import { registryFiles } from '../resources/registry-files.ts';
import { runs } from '../resources/runs.ts';
import { script } from '../templates.ts';

/** Files of the folder that no registry of the inventory has: kbuild owns it whole. */
function strangers({ facts, host }: Target, wanted: readonly WantedFile[]): readonly Change[] {
  const kept = new Set(wanted.map(({ path }) => path));
  return [...facts.files]
    .filter(([path, { kind }]) => kind === 'file' && path.startsWith(`${paths.certsD}/`) && !kept.has(path))
    .map(([path]) => ({
      summary: `remove ${path} (no registry of the inventory has it)`,
      apply: runs(host, script('linux/remove-from-folder.sh', { FILE: path, FOLDER: paths.certsD })),
    }));
}

/** How containerd reaches registries: mirrors, private CAs, logins. containerd reads these files at every pull. */
export const registries: Step = {
  name: 'registries',
  watches: { trees: [paths.certsD] },
  diff: (target) => {
    const wanted = registryFiles(target.inventory.runtime.registries, `${paths.certsD}/`, '/');
    return [...wanted.flatMap((one) => fileChanges(target, one)), ...strangers(target, wanted)];
  },
};
