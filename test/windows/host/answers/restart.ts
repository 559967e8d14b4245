import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Before }, { host }) => {
  const isThat = Before === String(machine.bootTimeMs);
  if (isThat) host.restart();
  return isThat;
};
