import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

/** A kubelet that runs with its configuration is well. */
export const answer: Answer = (machine) => ({
  healthy:
    machine.services.get('kubelet')?.state === 'Running' &&
    filesOf(machine).get('C:\\var\\lib\\kubelet\\config.yaml') !== undefined,
});
