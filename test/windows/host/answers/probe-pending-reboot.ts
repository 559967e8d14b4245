import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({
  reasons: machine.pendingReboot ? ['component servicing'] : [],
});
