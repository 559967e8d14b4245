import { createHash } from 'node:crypto';
import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, { Path }) => {
  const files = filesOf(machine);
  const file = files.get(Path as string);
  if (file === undefined) throw new ScriptFailure(`Cannot find path '${Path as string}' because it does not exist.`);
  if (file.isClosed === true) files.text(Path as string);
  return { sha256: createHash('sha256').update(file.content).digest('hex').toUpperCase() };
};
