import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = (machine, params) => {
  const { Root, Path } = params as Record<string, string>;
  const files = filesOf(machine);
  files.removeTree(Path!);
  files.makeFolder(Root!);
  files.makeFolder(Path!);
  return true;
};
