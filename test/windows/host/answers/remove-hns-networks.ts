import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => {
  const names = new Set(Names as readonly string[]);
  const keep = <T>(list: T[], is: (one: T) => boolean): void => void list.splice(0, list.length, ...list.filter(is));
  keep(machine.endpoints, (endpoint) => !names.has(String(endpoint['network'])));
  keep(machine.networks, ({ name }) => !names.has(name));
  return { removed: Names };
};
