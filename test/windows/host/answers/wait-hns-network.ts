import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

/** Looks often; what it waits for in the simulation comes in milliseconds, or never. */
const LOOKS = 20;

export const answer: Answer = async (machine, params, { sleep }) => {
  const { Name, Path } = params as Record<string, string>;
  const found = (): boolean =>
    machine.networks.some(({ name }) => name === Name) && filesOf(machine).get(Path!) !== undefined;
  for (let looks = 0; !found() && looks < LOOKS; looks++) await sleep(20);
  return { found: found() };
};
