import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => {
  for (const name of Names as readonly string[]) machine.tasks.delete(name);
  return { removed: Names };
};
