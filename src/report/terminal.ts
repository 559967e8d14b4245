import type { Reporter } from '../engine/event.ts';
import type { Phase } from '../engine/step.ts';
import { lineText, type Look } from './frame-text.ts';
import { lastFrame, liveFrame, type FrameLine, type Size } from './frame.ts';
import { runProgress } from './run-progress.ts';
import { screen } from './screen.ts';

/** Between two drawings at least, in ms: over a slow connection more would only be late. */
const APART_MS = 100;

/** While nothing happens, seconds are counted: between two drawings at most, in ms. */
const IDLE_MS = 1000;

/** Of a window that does not say its size. */
const USUAL: Size = { columns: 80, rows: 24 };

/** What drawing needs of a terminal. */
export type TerminalStream = Pick<NodeJS.WriteStream, 'write' | 'columns' | 'rows' | 'on' | 'off'>;

/** What drawing needs of its process. */
export interface TerminalTools {
  readonly nowMs: () => number;
  readonly look: Look;
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

/** Draws soon after `soon` is called, and every second. `stop` ends it. */
function drawingTimes(draw: () => void, after: NonNullable<TerminalTools['after']>) {
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
      isSoon = true;
    },
  };
}

/**
 * Follows a run on a terminal: a line for each phase, and lines for its hosts as far as the window has room. Draws only what
 * changed, ten times a second at most. What else is written to the stream meanwhile appears above.
 */
export function terminalReporter(phases: readonly Phase[], stream: TerminalStream, tools: TerminalTools): Reporter {
  const progress = runProgress(phases);
  const direct = stream.write.bind(stream);
  const size = (): Size => sizeOf(stream);
  const below = screen((text) => void direct(text), size);
  const texts = (lines: readonly FrameLine[]): readonly string[] =>
    lines.map((line) => lineText(line, size().columns - 1, tools.look));
  const draw = (): void => below.draw(texts(liveFrame(progress, size(), tools.nowMs())));
  const times = drawingTimes(draw, tools.after ?? realAfter);
  let state: 'new' | 'open' | 'closed' = 'new';
  const open = (): void => {
    state = 'open';
    stream.write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
      below.above(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
      for (const then of rest) if (typeof then === 'function') (then as () => void)();
      return true;
    };
    stream.on('resize', times.soon);
  };
  return {
    report: (event) => {
      progress.note(event);
      // Until the first phase begins there is nothing to see.
      if (state === 'new' && event.kind === 'phase-started') open();
      if (state === 'open') times.soon();
    },
    close: () => {
      if (state !== 'open') return Promise.resolve();
      state = 'closed';
      times.stop();
      stream.off('resize', times.soon);
      stream.write = direct;
      below.finish(texts(lastFrame(progress, size(), tools.nowMs())));
      return Promise.resolve();
    },
  };
}
