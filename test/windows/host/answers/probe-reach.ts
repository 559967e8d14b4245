import type { Answer } from '../script.ts';

interface Target {
  readonly host: string;
  readonly port: number;
}

/** `world.unreachable`: `host:port` of what does not answer. */
export const answer: Answer = (_machine, { Targets }, { host: { world } }) => {
  const unreachable = (world['unreachable'] ?? []) as readonly string[];
  return {
    answers: (Targets as unknown as readonly Target[]).map(({ host, port }) => ({
      host,
      port,
      problem: unreachable.includes(`${host}:${String(port)}`) ? 'no answer' : '',
    })),
  };
};
