import type { Answer } from '../script.ts';

export const answer: Answer = async (machine, { Names }, { host }) => {
  const names = (Names as readonly string[]).filter((name) => machine.services.has(name.toLowerCase()));
  for (const name of names) {
    await host.stopService(name);
    machine.services.delete(name.toLowerCase());
  }
  return { removed: names };
};
