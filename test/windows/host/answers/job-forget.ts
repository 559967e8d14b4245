import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Folder, Task }) => {
  machine.tasks.delete(Task as string);
  filesOf(machine).removeTree(Folder as string);
  return true;
};
