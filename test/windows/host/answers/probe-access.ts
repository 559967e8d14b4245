import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Paths }) => ({
  rules: (Paths as readonly string[])
    .filter((path) => filesOf(machine).exists(path))
    .map((path) => ({
      path,
      sddl:
        machine.extra.get(`sddl ${path}`) ??
        machine.extra.get('sddl') ??
        'O:BAG:SYD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)',
    })),
});
