import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({
  running: [...machine.tasks.values()]
    .filter(({ name, state }) => name.startsWith('kbuild-job-') && state !== 'Ready')
    .map(({ name }) => name),
});
