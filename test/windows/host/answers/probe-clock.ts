import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({ nowMs: Date.now() + machine.clockOffsetMs });
