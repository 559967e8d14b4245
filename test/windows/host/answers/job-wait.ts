import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';

/** How much is kept of each output. */
const LIMIT = 1_048_576;

/** The end of a text: the line of the result stays whole. */
function endOf(text: string): { readonly text: string; readonly isCut: boolean } {
  const result = text.lastIndexOf('\nKBUILD-RESULT:');
  const limit = text.length - LIMIT;
  const from = result >= 0 && result < limit ? result : limit;
  return from > 0 ? { text: text.slice(from), isCut: true } : { text, isCut: false };
}

export const answer: Answer = async (machine, params, { sleep }) => {
  const { Folder, Task } = params as Record<string, string>;
  const deadline = Date.now() + Number(params['Seconds']) * 1000;
  const files = filesOf(machine);
  for (;;) {
    const task = machine.tasks.get(Task!);
    const runs = ![undefined, 'Ready'].includes(task?.state);
    const status = Folder === '' ? undefined : files.text(`${Folder!}\\status`);
    if (status !== undefined) {
      const output = endOf(files.text(`${Folder!}\\output`) ?? '');
      const errors = endOf(files.text(`${Folder!}\\errors`) ?? '').text;
      return { state: 'ended', status, output: output.text, errors, ...(output.isCut ? { cut: true } : {}) };
    }
    if (!runs) return { state: 'gone', ...(task === undefined ? {} : { result: String(task.lastResult) }) };
    if (Date.now() >= deadline) return { state: 'running' };
    await sleep(20);
  }
};
