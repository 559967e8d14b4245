import { Listr, type ListrOptions, ListrPromptAdapter, type ListrRendererValue, type ListrTask } from 'listr2';
import { limiter } from '../limit.ts';

/** A task of listr2. Its context is not used: the engine's tasks share their state by closures. */
export type Task = ListrTask;

/** A task that runs, as its function gets it. */
export type RunningTask = Parameters<Task['task']>[1];

/** What shows the tasks of a run: a renderer of listr2, and its options. */
export interface Display {
  readonly renderer: ListrRendererValue;
  readonly rendererOptions?: object;
}

/**
 * What all lists have in common. Each list says how many tasks it runs at once: listr2 would take the number of the
 * list above it. With `exitOnError: false` listr2 would hide every error, so it is only said of a task that stands for
 * a host. A run handles signals itself.
 */
const LIST = { concurrent: false, exitOnError: true, registerSignalListeners: false } as const;

/**
 * Runs the tasks one after another; without a display nothing is shown. @throws what a task throws that may end the run
 */
export async function runTasks(tasks: readonly Task[], display: Display | undefined): Promise<void> {
  const shown = display ?? { renderer: 'silent' };
  await new Listr([...tasks], { ...LIST, ...shown } as ListrOptions).run();
}

/** Tasks below a task that runs, so many at once. */
export const below = (task: RunningTask, tasks: readonly Task[], atOnce = 1) =>
  task.newListr([...tasks], { ...LIST, concurrent: atOnce });

/** The task asks the operator something: the display makes room until the answer is there. */
class Question extends ListrPromptAdapter {
  async run<R>(ask: () => Promise<R>): Promise<R> {
    this.reportStarted();
    try {
      const answer = await ask();
      this.reportCompleted();
      return answer;
    } catch (error) {
      this.reportFailed();
      throw error;
    }
  }
}

/** Asks questions of tasks that run at once, one after another: there is one terminal. */
export function questions(): <R>(task: RunningTask, ask: () => Promise<R>) => Promise<R> {
  const { run } = limiter(1);
  return (task, ask) => run(() => task.prompt(Question).run(ask));
}
