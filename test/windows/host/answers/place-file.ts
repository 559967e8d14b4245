import { createHash } from 'node:crypto';
import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, params) => {
  const { Source, Target, Sha256, Access } = params as Record<string, string>;
  const files = filesOf(machine);
  const source = files.get(Source!);
  if (source === undefined) throw new ScriptFailure(`Cannot find path '${Source!}' because it does not exist.`);
  const found = createHash('sha256').update(source.content).digest('hex').toUpperCase();
  files.remove(Source!);
  if (found !== Sha256!.toUpperCase())
    throw new ScriptFailure(
      `what arrived for ${Target!} has the SHA-256 ${found} instead of ${Sha256!}; the old file stays`,
    );
  files.put(Target!, source.content, Access === 'private' ? 'private' : 'inherited');
  return true;
};
