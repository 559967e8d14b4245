import type { Answer } from '../script.ts';

export const answer: Answer = async (machine, params, { sleep }) => {
  const { Lock, Force } = params as Record<string, string>;
  const path = Lock!.toLowerCase();
  const held = machine.locks.get(path);
  if (held !== undefined && Force === 'yes') {
    machine.processes.get(held.pid)?.end();
    while (machine.locks.has(path)) await sleep(10);
  }
  return held?.holder ?? null;
};
