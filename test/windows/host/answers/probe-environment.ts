import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => ({
  variables: (Names as readonly string[]).flatMap((name) => {
    const value = machine.environment.get(name);
    return value === undefined ? [] : [{ name, value }];
  }),
});
