import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => {
  for (const name of Names as readonly string[]) machine.firewall.delete(name.toLowerCase());
  return { removed: Names };
};
