import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Paths }) => {
  for (const path of Paths as readonly string[]) filesOf(machine).makeFolder(path);
  return { made: Paths };
};
