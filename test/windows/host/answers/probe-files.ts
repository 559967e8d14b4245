import { createHash } from 'node:crypto';
import { filesOf, type Machine } from '../machine.ts';
import type { Answer } from '../script.ts';

function stateOf(machine: Machine, path: string): object {
  const file = filesOf(machine).get(path);
  if (file === undefined) return { path, kind: 'folder', entries: filesOf(machine).under(path).length, modifiedMs: 0 };
  if (file.isClosed === true)
    return {
      path: file.path,
      kind: 'unreadable',
      problem: `The process cannot access the file '${file.path}' because it is being used by another process.`,
    };
  const modifiedMs = file.modifiedMs ?? 0;
  return { path: file.path, kind: 'file', sha256: createHash('sha256').update(file.content).digest('hex'), modifiedMs };
}

export const answer: Answer = (machine, { Paths, Trees }) => {
  const files = filesOf(machine);
  return {
    files: [
      ...(Paths as readonly string[]).filter((path) => files.exists(path)),
      ...(Trees as readonly string[]).flatMap((tree) => files.under(tree)),
    ].map((path) => stateOf(machine, path)),
  };
};
