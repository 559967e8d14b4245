import type { Size } from '../report/frame.ts';
import { lineText, lookOf } from '../report/frame-text.ts';
import { jsonLine } from '../report/json.ts';
import { screen } from '../report/screen.ts';
import { statusText, type Status } from '../report/status.ts';
import { changeText, statusWatch, type StatusChange, type StatusWatch } from '../report/status-watch.ts';
import type { StatusOptions } from './commands/status.ts';
import type { Context } from './context.ts';
import type { Run } from './session/run.ts';

const INTERRUPTED = 130;

/** Between two observations, in ms. */
const EVERY_MS = 5_000;

/** How observations are shown. */
interface Display {
  readonly show: (status: Status, changes: readonly StatusChange[], nowMs: number) => void;
  /** Called every second between observations. */
  readonly tick: () => void;
  readonly close: () => void;
}

const nothing = (): void => undefined;

/** One document for the beginning and one for each change, a line each. */
const asJson = ({ out }: Context): Display => ({
  show: (status, changes, nowMs) =>
    out(jsonLine<'status-watch'>({ time: new Date(nowMs).toISOString(), ...status, changes })),
  tick: nothing,
  close: nothing,
});

/** The status once, then a line for each change. */
function asLines({ out }: Context): Display {
  let isFirst = true;
  return {
    show: (status, changes, nowMs) => {
      if (isFirst) out(statusText(status, nowMs));
      isFirst = false;
      for (const change of changes) out(`${changeText(change, nowMs)}\n`);
    },
    tick: nothing,
    close: nothing,
  };
}

/** The cluster at the bottom of the terminal, drawn again with its changes marked. */
function asScreen(context: Context, flags: StatusOptions, watch: StatusWatch, stream: NodeJS.WriteStream): Display {
  const { env, nowMs } = context;
  const look = lookOf(env, flags.color === false ? 'never' : undefined);
  const size = (): Size => ({ columns: stream.columns || 80, rows: stream.rows || 24 });
  const lines = screen((text) => void stream.write(text), size);
  const every = `${String((flags.every ?? EVERY_MS) / 1000)} s`;
  const draw = (): void =>
    lines.draw(watch.frame(size(), nowMs(), every).map((line) => lineText(line, size().columns - 1, look)));
  stream.on('resize', draw);
  return {
    show: draw,
    tick: draw,
    close: () => {
      stream.off('resize', draw);
      draw();
    },
  };
}

function displayOf(run: Run, flags: StatusOptions, watch: StatusWatch): Display {
  const { context } = run;
  if (flags.json === true) return asJson(context);
  return context.display === undefined ? asLines(context) : asScreen(context, flags, watch, context.display);
}

/**
 * Observes again and again over the connections of the run, and shows what changed, until the run is interrupted. Returns
 * its exit code. @throws errors of kbuild itself
 */
export async function watchStatus(run: Run, flags: StatusOptions, statusNow: () => Status): Promise<number> {
  const { context, connected, signal, mask } = run;
  const watch = statusWatch();
  const display = displayOf(run, flags, watch);
  const stopped = new Promise<'stopped'>((resolve) => {
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
  /** Until the work or the run ends, whichever is first. */
  const during = async (work: Promise<unknown>): Promise<void> => {
    const ended = work.then(() => 'ended' as const);
    // After an interruption its connections are closed under it.
    ended.catch(() => undefined);
    const aSecond = async (): Promise<undefined> => {
      await context.sleep(1000);
      return undefined;
    };
    let how: 'ended' | 'stopped' | undefined;
    while (how === undefined) {
      how = await Promise.race([ended, stopped, aSecond()]);
      display.tick();
    }
  };
  const isStopped = (): boolean => signal.aborted;
  for (let isFirst = true; !isStopped(); isFirst = false) {
    const nowMs = context.nowMs();
    const status = mask.value(statusNow());
    const changes = watch.next(status, nowMs);
    if (isFirst || changes.length > 0) display.show(status, changes, nowMs);
    const untilMs = nowMs + (flags.every ?? EVERY_MS);
    while (!isStopped() && context.nowMs() < untilMs) {
      // A longer sleep would keep the process after an interruption.
      await Promise.race([stopped, context.sleep(Math.min(1000, untilMs - context.nowMs()))]);
      display.tick();
    }
    if (!isStopped()) await during(connected.observeAll());
  }
  display.close();
  return INTERRUPTED;
}
