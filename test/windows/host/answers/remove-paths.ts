import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, { Paths }) => {
  const running = [...machine.services.values()].filter(({ state }) => state === 'Running');
  for (const path of Paths as readonly string[]) {
    const user = running.find((service) => service.path.toLowerCase().includes(`${path.toLowerCase()}\\`));
    if (user !== undefined && filesOf(machine).exists(path))
      throw new ScriptFailure(`Cannot remove item ${path}: it is being used by another process (${user.name}).`);
    filesOf(machine).removeTree(path);
  }
  return { removed: Paths };
};
