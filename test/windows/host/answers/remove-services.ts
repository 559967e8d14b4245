import type { Answer } from '../script.ts';
import { refuseMarked, stopInTime } from '../services.ts';

export const answer: Answer = async (machine, { Names }, { host }) => {
  const names = (Names as readonly string[]).filter((name) => machine.services.has(name.toLowerCase()));
  for (const name of names) {
    refuseMarked(machine, name);
    await stopInTime(machine, host, name);
    machine.services.delete(name.toLowerCase());
  }
  return { removed: names };
};
