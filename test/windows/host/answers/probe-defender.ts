import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({
  state: machine.extra.get('defender') ?? 'on',
  excludedProcesses: machine.extra.get('excludedProcesses') ?? [],
});
