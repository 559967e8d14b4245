import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Path }) => {
  const text = filesOf(machine).text(Path as string);
  return {
    present: text !== undefined,
    lines: (text ?? '').split('\n').filter((line) => /^\s*-?\s*(server|name|cluster):\s*\S/.test(line)),
  };
};
