import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

export const answer: Answer = async (machine, params, { sleep }) => {
  const { Folder, Task } = params as Record<string, string>;
  const deadline = Date.now() + Number(params['Seconds']) * 1000;
  const files = filesOf(machine);
  for (;;) {
    const runs = ![undefined, 'Ready'].includes(machine.tasks.get(Task!)?.state);
    const status = Folder === '' ? undefined : files.text(`${Folder!}\\status`);
    if (status !== undefined)
      return {
        state: 'ended',
        status,
        output: files.text(`${Folder!}\\output`) ?? '',
        errors: files.text(`${Folder!}\\errors`) ?? '',
      };
    if (!runs) return { state: 'gone' };
    if (Date.now() >= deadline) return { state: 'running' };
    await sleep(20);
  }
};
