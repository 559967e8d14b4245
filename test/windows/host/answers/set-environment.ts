import type { Answer } from '../script.ts';

interface Variable {
  readonly name: string;
  readonly value: string | null;
}

export const answer: Answer = (machine, { Variables }) => {
  const given = Variables as unknown as readonly Variable[];
  for (const { name, value } of given) {
    if (value === null) machine.environment.delete(name);
    else machine.environment.set(name, value);
  }
  return { set: given.map(({ name }) => name) };
};
