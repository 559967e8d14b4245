import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => {
  const own = [...machine.tasks.values()].filter(({ name }) => /^kbuild-(?:job-.*|restart)$/.test(name));
  const names = (isReady: boolean): readonly string[] =>
    own.filter(({ state }) => (state === 'Ready') === isReady).map(({ name }) => name);
  return { running: names(false).filter((name) => name.startsWith('kbuild-job-')), left: names(true) };
};
