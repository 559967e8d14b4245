import type { Change, Step, Target, Unobserved } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { fileChanges } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { script } from '../templates.ts';

/** Notes a path as kbuild's before its file is written, and keeps what was there: a crash in between loses nothing. */
function noted({ host, facts }: Target, path: string, change: Change): Change {
  if (facts.distributedFiles.includes(path)) return change;
  const { apply } = change;
  if (apply === undefined) return change;
  const note = runs(
    host,
    script('linux/note-file.sh', { FILE: path, RECORD: paths.distributed, KEPT: paths.replaced }),
  );
  return {
    ...change,
    apply: async (on) => {
      await note(on);
      await apply(on);
    },
  };
}

const filesOf = ({ inventory, host }: Unobserved) => inventory.files.filter(({ hosts }) => hosts.includes(host.name));

/** The files that the inventory distributes to this host are there; those that it no longer names are gone, or as they were. */
export const distributedFiles: Step = {
  name: 'files',
  watches: (about) => ({ files: filesOf(about).map(({ path }) => path) }),
  diff: (target) => {
    const { host, facts } = target;
    const wanted = filesOf(target);
    const unwanted = facts.distributedFiles.filter((path) => !wanted.some((one) => one.path === path));
    return [
      ...wanted.flatMap((one) => fileChanges(target, one).map((change) => noted(target, one.path, change))),
      ...unwanted.map((path) => ({
        summary: `take back ${path} (not in the inventory any more)`,
        apply: runs(
          host,
          script('linux/take-back-file.sh', { FILE: path, RECORD: paths.distributed, KEPT: paths.replaced }),
        ),
      })),
    ];
  },
};
