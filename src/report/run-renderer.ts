import { type ListrRenderer, ListrTaskEventType, type ListrTaskObject, ListrTaskState } from 'listr2';
import { type FrameLine, lastFrame, liveFrame, type Size } from './frame.ts';
import type { RunProgress } from './run-progress.ts';
import { lineText, type Look, screen, type Screen } from './terminal.ts';

/** Between two drawings at least, in ms: over a slow connection more would only be late. */
const APART_MS = 100;

/** While nothing happens, seconds are counted: between two drawings at most, in ms. */
const IDLE_MS = 1000;

/** Of a window that does not say its size. */
const USUAL: Size = { columns: 80, rows: 24 };

/** What drawing needs of a terminal. */
export type TerminalStream = Pick<NodeJS.WriteStream, 'write' | 'columns' | 'rows' | 'on' | 'off'>;

/** The source of a run's frames, and the terminal where they are drawn. */
export interface RunRendererOptions {
  /** The run's events so far. */
  readonly progress: RunProgress;
  readonly stream: TerminalStream;
  readonly nowMs: () => number;
  readonly look: Look;
  /** Called when nothing is drawn any more. */
  readonly ended?: () => void;
  /** Calls `act` after `ms`; returns a function that prevents it. */
  readonly after?: (ms: number, act: () => void) => () => void;
}

const realAfter = (ms: number, act: () => void): (() => void) => {
  // A drawing does not keep the process alive.
  const timer = setTimeout(act, ms).unref();
  return () => clearTimeout(timer);
};

/** The window as it is now; one with a size of 0 does not know it. */
const sizeOf = ({ columns, rows }: TerminalStream): Size => ({
  columns: columns > 0 ? columns : USUAL.columns,
  rows: rows > 0 ? rows : USUAL.rows,
});

/** Draws soon after `soon` is called, and every second from then on, until `stop` is called. */
function drawingTimes(draw: () => void, after: NonNullable<RunRendererOptions['after']>) {
  let cancel: (() => void) | undefined;
  let isSoon = false;
  const plan = (ms: number): void => {
    cancel?.();
    cancel = after(ms, () => {
      isSoon = false;
      draw();
      plan(IDLE_MS);
    });
  };
  return {
    soon: (): void => {
      if (isSoon) return;
      isSoon = true;
      plan(APART_MS);
    },
    stop: (): void => {
      cancel?.();
      isSoon = false;
    },
  };
}

type Tasks = readonly ListrTaskObject<object, never, never>[];

/**
 * Follows a run on a terminal: a line for each phase, and lines for its hosts as far as the window has room. Draws only
 * what changed, ten times a second at most. What else is written to the stream meanwhile appears above. listr2 says
 * when the run begins and ends, and when a task asks a question: drawing stops then, and resumes after the answer.
 * A frame is a function of the run's events.
 */
export class RunRenderer implements ListrRenderer {
  /** listr2 would look whether stdout is a terminal. It is stderr that is drawn on, and the session has looked. */
  static readonly nonTTY = true;
  static readonly rendererOptions: RunRendererOptions;
  static readonly rendererTaskOptions: never;
  private readonly tasks: Tasks;
  private readonly options: RunRendererOptions;
  private readonly direct: TerminalStream['write'];
  private readonly below: Screen;
  private readonly times: ReturnType<typeof drawingTimes>;
  private questions = 0;
  private isOpen = false;

  constructor(tasks: Tasks, options: RunRendererOptions) {
    this.tasks = tasks;
    this.options = options;
    this.direct = options.stream.write.bind(options.stream);
    this.below = screen((text) => void this.direct(text), this.size);
    this.times = drawingTimes(() => this.below.draw(this.texts(liveFrame)), options.after ?? realAfter);
  }

  /** Called by listr2 before the first task. */
  render(): void {
    this.options.progress.onNote(this.soon);
    this.follow(this.tasks);
  }

  /** Called by listr2 after the last task, or when the run ends by an error. */
  end(): void {
    this.options.progress.onNote(() => undefined);
    this.close();
    this.options.ended?.();
  }

  private readonly follow = (tasks: Tasks): void => {
    for (const task of tasks) {
      task.on(ListrTaskEventType.SUBTASK, this.follow as never);
      task.on(ListrTaskEventType.STATE, this.heed);
    }
  };

  private readonly heed = (state: ListrTaskState): void => {
    if (state === ListrTaskState.PROMPT) {
      this.questions += 1;
      this.close();
    } else if (state === ListrTaskState.PROMPT_COMPLETED || state === ListrTaskState.PROMPT_FAILED) {
      this.questions -= 1;
      this.soon();
    }
  };

  private readonly size = (): Size => sizeOf(this.options.stream);

  private texts(frame: typeof liveFrame | typeof lastFrame): readonly string[] {
    const { progress, nowMs, look } = this.options;
    const lines: readonly FrameLine[] = frame(progress, this.size(), nowMs());
    return lines.map((line) => lineText(line, this.size().columns - 1, look));
  }

  /** Until the first phase begins there is nothing to see. */
  private readonly soon = (): void => {
    if (this.questions > 0 || (!this.isOpen && !this.options.progress.hasBegun())) return;
    if (!this.isOpen) this.open();
    this.times.soon();
  };

  private open(): void {
    this.isOpen = true;
    const { stream } = this.options;
    stream.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
      this.below.above(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
      for (const then of rest) if (typeof then === 'function') (then as () => void)();
      return true;
    };
    stream.on('resize', this.soon);
  }

  private close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.times.stop();
    const { stream } = this.options;
    stream.off('resize', this.soon);
    stream.write = this.direct;
    this.below.finish(this.texts(lastFrame));
  }
}
