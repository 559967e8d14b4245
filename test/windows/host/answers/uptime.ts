import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => String(Date.now() - machine.bootTimeMs);
