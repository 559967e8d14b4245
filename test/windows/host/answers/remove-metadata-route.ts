import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

const ROUTE = '169.254.169.254/32';

export const answer: Answer = (machine, params) => {
  const { Note } = params as Record<string, string>;
  const removed = [machine.routes, machine.persistentRoutes].filter((routes) => routes.delete(ROUTE)).length;
  filesOf(machine).removeTree(Note!);
  return { removed };
};
