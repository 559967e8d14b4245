import { filesOf, type Machine } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

/** Whether the account owns what it made: SYSTEM, the administrators, or the one that kbuild logs in with. */
const isAdministrators = (owner: string): boolean => ['BA', 'SY', 'S-1-5-21-1-2-3-500'].includes(owner);

/** The security descriptor of a folder that the model knows, as SDDL; empty otherwise. */
function sddlOf({ extra }: Machine, folder: string): string {
  const sddl = extra.get(`sddl ${folder}`);
  return typeof sddl === 'string' ? sddl : '';
}

export const answer: Answer = (machine, { Paths }) => {
  for (const path of Paths as readonly string[]) {
    if (filesOf(machine).get(path) !== undefined)
      throw new ScriptFailure(`${path} is a file, and a folder is needed: move it away`);
    const parts = path.split('\\');
    for (let count = parts.length; count > 1; count -= 1) {
      const folder = parts.slice(0, count).join('\\');
      const [, owner = 'BA'] = /^O:(S-[\d-]+|[A-Z]{2})/.exec(sddlOf(machine, folder)) ?? [];
      if (!isAdministrators(owner))
        throw new ScriptFailure(`${folder} belongs to ${owner}, not to an administrator: find out why, and remove it`);
    }
    filesOf(machine).makeFolder(path);
    machine.extra.set(`sddl ${path}`, 'O:BAG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)');
  }
  return { protected: Paths };
};
