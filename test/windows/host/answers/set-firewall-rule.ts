import type { Answer } from '../script.ts';

export const answer: Answer = (machine, params) => {
  const { Name, Protocol, Port } = params as Record<string, string>;
  machine.firewall.set(Name!.toLowerCase(), { name: Name!, protocol: Protocol!, ports: [Port!] });
  return { set: Name };
};
