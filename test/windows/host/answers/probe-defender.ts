import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({
  present: true,
  excludedProcesses: machine.extra.get('excludedProcesses') ?? [],
});
