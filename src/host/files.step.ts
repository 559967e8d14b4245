import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target, Unobserved } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { script } from '../templates.ts';
import { fileChanges } from './file.step.ts';

/**
 * Records a path as kbuild's and saves the old file before kbuild writes the new one: an interruption loses nothing.
 */
function recorded({ host, facts }: Target, path: string, change: Change): Change {
  if (facts.distributedFiles.includes(path)) return change;
  const { apply } = change;
  if (apply === undefined) return change;
  const note = runs(host, script('host/note-file.sh', { FILE: path, RECORD: paths.distributed, KEPT: paths.replaced }));
  return {
    ...change,
    apply: async (on) => {
      await note(on);
      await apply(on);
    },
  };
}

const filesOf = ({ inventory, host }: Unobserved) => inventory.files.filter(({ hosts }) => hosts.includes(host.name));

/**
 * Writes the files that the inventory distributes to this host. Removes those that it no longer names, or restores the
 * old files.
 */
export const distributedFiles: Step = {
  name: 'files',
  watches: (about) => ({ files: filesOf(about).map(({ path }) => path) }),
  diff: (target) => {
    const { host, facts } = target;
    const wanted = filesOf(target);
    const unwanted = facts.distributedFiles.filter((path) => !wanted.some((file) => file.path === path));
    return [
      ...wanted.flatMap((file) => fileChanges(target, file).map((change) => recorded(target, file.path, change))),
      ...unwanted.map((path) => ({
        summary: `take back ${path} (not in the inventory any more)`,
        apply: runs(
          host,
          script('host/take-back-file.sh', { FILE: path, RECORD: paths.distributed, KEPT: paths.replaced }),
        ),
      })),
    ];
  },
};
