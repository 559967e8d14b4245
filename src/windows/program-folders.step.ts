import { runsOnWindows } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { programFolders } from '../paths.ts';
import { powershell } from '../templates.ts';
import { writersOf } from './writers.facts.ts';

/**
 * Lets only administrators write to the folders whose programs SYSTEM runs. Those that Windows makes below C:\ let
 * every user make files in them, e.g. a library that a program loads. A folder of another account is refused, not taken
 * over.
 */
export const protectedFolders: Step<'windows'> = {
  name: 'program-folders',
  watches: { access: programFolders },
  diff: ({ host, facts }) => {
    const open = programFolders.flatMap((path) => {
      const sddl = facts.access.get(path);
      if (sddl === undefined) return [{ path, found: 'none' }];
      const writers = writersOf(sddl);
      return writers.length === 0 ? [] : [{ path, found: `${writers.join(', ')} may write` }];
    });
    if (open.length === 0) return [];
    return [
      {
        summary: `protect ${open.map(({ path, found }) => `${path} (found ${found})`).join(', ')}`,
        disrupts: false,
        apply: runsOnWindows(host, powershell('windows/protect-folders.ps1', { Paths: open.map(({ path }) => path) })),
      },
    ];
  },
};
