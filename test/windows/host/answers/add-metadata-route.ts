import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, params) => {
  const { Note } = params as Record<string, string>;
  filesOf(machine).put(Note!, 'kbuild');
  if (machine.routes.has('169.254.169.254/32'))
    throw new ScriptFailure('route.exe ended with status 1: The route addition failed: The object already exists.');
  machine.routes.add('169.254.169.254/32');
  machine.persistentRoutes.add('169.254.169.254/32');
  return { added: true };
};
