import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

/** Pipes are there while their service runs. */
const PIPES: Readonly<Record<string, string>> = { '\\\\.\\pipe\\containerd-containerd': 'containerd' };

export const answer: Answer = (machine, { Paths }) => ({
  paths: (Paths as readonly string[]).filter((path) => {
    const service = PIPES[path];
    return service === undefined ? filesOf(machine).exists(path) : machine.services.get(service)?.state === 'Running';
  }),
});
