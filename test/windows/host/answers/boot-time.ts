import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => String(machine.bootTimeMs);
