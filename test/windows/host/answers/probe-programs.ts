import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

interface Asked {
  readonly name: string;
  readonly path: string;
}

/** The text of a simulated program: what it says of its version, and its end. A truncated one has none, and does not run. */
const PROGRAM = /^MZ (.*)\nEND$/;

export const answer: Answer = (machine, { Programs }) => ({
  programs: (Programs as unknown as readonly Asked[]).flatMap(({ name, path }) => {
    const text = filesOf(machine).text(path);
    if (text === undefined) return [];
    // nssm prints its usage and ends with 1, or opens a window that no user sees.
    if (/nssm/i.test(path)) throw new Error('nssm.exe was run for its version');
    const said = PROGRAM.exec(text)?.[1];
    return said === undefined
      ? [
          {
            name,
            state: 'broken',
            said: `Program '${path}' failed to run: The specified executable is not a valid application`,
          },
        ]
      : [{ name, state: 'works', said }];
  }),
});
