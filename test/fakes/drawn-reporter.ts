import { Listr } from 'listr2';
import type { Reporter } from '../../src/engine/event.ts';
import type { Phase } from '../../src/engine/step.ts';
import { runProgress } from '../../src/report/run-progress.ts';
import { RunRenderer, type RunRendererOptions } from '../../src/report/run-renderer.ts';

/** Events that are drawn as those of a run: by the real renderer, which listr2 starts and ends. */
export function drawnReporter(phases: readonly Phase[], options: Omit<RunRendererOptions, 'progress'>): Reporter {
  const progress = runProgress(phases);
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const rendererOptions: RunRendererOptions = { ...options, progress };
  const run = new Listr([{ task: () => ended }], {
    renderer: RunRenderer as never,
    rendererOptions,
    registerSignalListeners: false,
  } as never).run();
  return {
    report: progress.note,
    close: async () => {
      end();
      await run;
    },
  };
}
