import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Before }, { host }) => {
  const isThat = Date.now() - machine.bootTimeMs >= Number(Before);
  if (isThat) {
    // Nothing removes the task: reset does.
    machine.tasks.set('kbuild-restart', { name: 'kbuild-restart', state: 'Ready', lastResult: 0 });
    host.restart();
  }
  return isThat;
};
