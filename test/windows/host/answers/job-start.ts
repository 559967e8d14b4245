import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, params, { host }) => {
  const { Jobs, Run, Folder, Task, Payload } = params as Record<string, string>;
  const files = filesOf(machine);
  const task = machine.tasks.get(Task!);
  if (files.exists(Folder!) && (files.get(`${Folder!}\\status`) !== undefined || task?.state === 'Running'))
    return { state: 'started' };
  const busy = [...machine.tasks.values()].find(
    ({ name, state }) => name.startsWith('kbuild-job-') && name !== Task && state !== 'Ready',
  );
  if (busy !== undefined) return { state: 'busy', task: busy.name };
  for (const name of machine.tasks.keys()) if (name.startsWith('kbuild-job-')) machine.tasks.delete(name);
  for (const path of files.under(Jobs!)) if (!path.startsWith(`${Jobs!}\\${Run!}\\`)) files.remove(path);
  files.removeTree(Folder!);
  const work = `${Folder!}\\work`;
  files.makeFolder(work);
  const given = JSON.parse(params['Files'] as string) as {
    readonly files: readonly { readonly name: string; readonly text: string }[];
  };
  for (const { name, text } of given.files) files.put(`${work}\\${name}`, text, 'private');
  files.put(`${Folder!}\\payload`, Payload!, 'private');
  if (machine.tasks.has(Task!)) throw new ScriptFailure('the task is there already');
  machine.tasks.set(Task!, { name: Task!, state: 'Running', lastResult: 267_009 });
  host.runTask(Task!, Payload!, work, ({ status, output, errors }) => {
    files.removeTree(work);
    files.remove(`${Folder!}\\payload`);
    files.put(`${Folder!}\\output`, output);
    files.put(`${Folder!}\\errors`, errors);
    files.put(`${Folder!}\\status`, status);
  });
  return { state: 'started' };
};
