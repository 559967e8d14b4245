import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Path }) => {
  filesOf(machine).makeFolder(Path as string);
  return true;
};
