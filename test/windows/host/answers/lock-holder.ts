import type { Answer } from '../script.ts';

export const answer: Answer = async (machine, params, { sleep }) => {
  const { Lock, Force } = params as Record<string, string>;
  const path = Lock!.toLowerCase();
  const held = machine.locks.get(path);
  if (held !== undefined && Force === 'yes') {
    // Only the process that took it: another may have its number by now.
    const process = machine.processes.get(held.pid);
    if (process?.startedMs === held.startedMs) process?.end();
    const deadline = Date.now() + 300;
    while (machine.locks.has(path) && Date.now() < deadline) await sleep(10);
  }
  return held?.holder ?? null;
};
