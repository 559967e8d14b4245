import { runnerOf } from '../encoded-runner.ts';
import { filesOf, type Machine } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

/** SCHED_S_TASK_HAS_NOT_RUN */
const NOT_YET = 267_011;

/** How long the model's script waits for the Task Scheduler, in ms. */
const PATIENCE_MS = 300;

/** `extra.scheduler`: `queues` lets no task begin. */
const holdsTasks = (machine: Machine): boolean => machine.extra.get('scheduler') === 'queues';

/** Of this run, or of one that may not have read its new result yet. */
function isKept(machine: Machine, path: string, jobs: string, own: string): boolean {
  const files = filesOf(machine);
  const run = path.slice(jobs.length + 1).split('\\')[0]!;
  const isNew = (one: string): boolean =>
    one.endsWith('\\status') && (files.get(one)?.modifiedMs ?? 0) > Date.now() - 60_000;
  return run === own || files.under(`${jobs}\\${run}`).some(isNew);
}

export const answer: Answer = async (machine, params, { host, sleep }) => {
  const { Jobs, Run, Folder, Task, Payload, Runner } = params as Record<string, string>;
  const files = filesOf(machine);
  const task = machine.tasks.get(Task!);
  const isThere = files.exists(Folder!);
  const hasRun = task !== undefined && task.lastResult !== NOT_YET;
  if (isThere && (files.get(`${Folder!}\\status`) !== undefined || hasRun)) return { state: 'started' };
  const waits = isThere && task !== undefined && task.state !== 'Ready';
  const busy = [...machine.tasks.values()].find(
    ({ name, state }) => name.startsWith('kbuild-job-') && name !== Task && state !== 'Ready',
  );
  if (!waits && busy !== undefined) return { state: 'busy', task: busy.name };
  const work = `${Folder!}\\work`;
  if (!waits) {
    for (const name of machine.tasks.keys()) if (name.startsWith('kbuild-job-')) machine.tasks.delete(name);
    for (const path of files.under(Jobs!)) if (!isKept(machine, path, Jobs!, Run!)) files.remove(path);
    files.removeTree(Folder!);
    files.makeFolder(work);
    const given = JSON.parse(params['Files'] as string) as {
      readonly files: readonly { readonly name: string; readonly text: string }[];
    };
    for (const { name, text } of given.files) files.put(`${work}\\${name}`, text, 'private');
    files.put(`${Folder!}\\payload`, Payload!, 'private');
    if (machine.tasks.has(Task!)) throw new ScriptFailure('the task is there already');
    machine.tasks.set(Task!, { name: Task!, state: 'Queued', lastResult: NOT_YET });
  }
  const queued = machine.tasks.get(Task!)!;
  const deadline = Date.now() + PATIENCE_MS;
  while (holdsTasks(machine)) {
    if (Date.now() > deadline) {
      machine.tasks.delete(Task!);
      files.removeTree(Folder!);
      throw new ScriptFailure('the Task Scheduler does not start the job: does its service (Schedule) run?');
    }
    await sleep(10);
  }
  const { folder, seconds } = runnerOf(machine, Runner!);
  Object.assign(queued, { state: 'Running', lastResult: 267_009 });
  host.runTask(
    Task!,
    files.text(`${folder}\\payload`)!,
    work,
    ({ status, output, errors }) => {
      files.removeTree(work);
      files.remove(`${folder}\\payload`);
      files.put(`${folder}\\output`, output);
      files.put(`${folder}\\errors`, errors);
      files.put(`${folder}\\status`, status);
    },
    seconds,
  );
  return { state: 'started' };
};
