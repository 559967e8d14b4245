import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = (machine, params) => {
  const { Note } = params as Record<string, string>;
  filesOf(machine).removeTree(Note!);
  return { removed: machine.routes.delete('169.254.169.254/32') ? 1 : 0 };
};
