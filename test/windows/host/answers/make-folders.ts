import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, { Paths }) => {
  for (const path of Paths as readonly string[]) {
    if (filesOf(machine).get(path) !== undefined)
      throw new ScriptFailure(`${path} is a file, and a folder is needed: move it away`);
    filesOf(machine).makeFolder(path);
  }
  return { made: Paths };
};
