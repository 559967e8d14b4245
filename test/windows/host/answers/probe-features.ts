import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => ({
  available: machine.caption.includes('Server'),
  features: (Names as readonly string[]).flatMap((name) => {
    const state = machine.features.get(name);
    return state === undefined ? [] : [{ name, state }];
  }),
});
