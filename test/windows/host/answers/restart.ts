import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Before }, { host }) => {
  const isThat = Date.now() - machine.bootTimeMs >= Number(Before);
  if (isThat) host.restart();
  return isThat;
};
