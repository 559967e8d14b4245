import { FactError } from '../errors.ts';
import type { Size } from '../report/frame.ts';
import { jsonLine } from '../report/json.ts';
import { changeText, type StatusChange, statusWatch, type StatusWatch } from '../report/status-watch.ts';
import { type Status, statusText } from '../report/status.ts';
import { lineText, lookOf, screen } from '../report/terminal.ts';
import type { Context } from '../session/context.ts';
import type { Run } from '../session/run.ts';
import { type ApiWatch, apiWatchOf } from './api-watch.ts';
import type { StatusOptions } from './status.command.ts';

const INTERRUPTED = 130;

/** Between two observations of all hosts, in ms; and while the API tells what changes. */
const EVERY_MS = 5_000;
const EVERY_WATCHED_MS = 30_000;

/** What comes with a change is awaited, in ms: a pod that starts changes several times. */
const TOGETHER_MS = 300;

/** The least time between two observations for changes, in ms; twice as long as the last one took, if that is more. */
const LEAST_MS = 2_000;

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
function asScreen(
  context: Context,
  flags: StatusOptions,
  { watch, everyMs }: Pick<Watching, 'watch' | 'everyMs'>,
  stream: NodeJS.WriteStream,
): Display {
  const { env, nowMs } = context;
  const look = lookOf(env, flags.color === false ? 'never' : undefined);
  const size = (): Size => ({ columns: stream.columns || 80, rows: stream.rows || 24 });
  const lines = screen((text) => void stream.write(text), size);
  const every = (): string => `${String(everyMs() / 1000)} s`;
  const draw = (): void =>
    lines.draw(watch.frame(size(), nowMs(), every()).map((line) => lineText(line, size().columns - 1, look)));
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

function displayOf(run: Run, flags: StatusOptions, watching: Pick<Watching, 'watch' | 'everyMs'>): Display {
  const { context } = run;
  if (flags.json === true) return asJson(context);
  return context.display === undefined ? asLines(context) : asScreen(context, flags, watching, context.display);
}

/** What a watch works with. */
interface Watching {
  readonly run: Run;
  readonly watch: StatusWatch;
  readonly api: ApiWatch;
  /** How long until all hosts are observed again, in ms. */
  readonly everyMs: () => number;
  readonly display: Display;
  readonly stopped: Promise<'stopped'>;
}

/** Until the work or the run ends, whichever is first. */
async function during({ run, display, stopped }: Watching, work: Promise<unknown>): Promise<void> {
  const ended = work.then(() => 'ended' as const);
  // After an interruption its connections are closed under it.
  ended.catch(() => undefined);
  const aSecond = async (): Promise<undefined> => {
    await run.context.sleep(1000);
    return undefined;
  };
  let how: 'ended' | 'stopped' | undefined;
  while (how === undefined) {
    how = await Promise.race([ended, stopped, aSecond()]);
    display.tick();
  }
}

/**
 * Waits for the next observation; `fromMs`: since the last of all hosts; `notBeforeMs`: what the API tells waits until
 * then. True: the API has told that something changed.
 */
async function isTold(
  { run, api, everyMs, display, stopped }: Watching,
  fromMs: number,
  notBeforeMs: number,
): Promise<boolean> {
  const { context, signal } = run;
  for (;;) {
    if (context.nowMs() >= notBeforeMs && api.hasChanged()) {
      await Promise.race([stopped, context.sleep(TOGETHER_MS)]);
      api.hasChanged();
      return true;
    }
    const leftMs = fromMs + everyMs() - context.nowMs();
    if (signal.aborted || leftMs <= 0) return false;
    // A longer sleep would keep the process after an interruption.
    await Promise.race([stopped, context.sleep(Math.min(1000, leftMs))]);
    display.tick();
  }
}

/** The cluster alone, as far as a status reads it. */
async function observeCluster({ connected }: Run, statusNow: () => Status): Promise<void> {
  connected.observations.expireCluster();
  await connected.observations.evaluate(statusNow).catch((error: unknown) => {
    // The next observation of all hosts shows it as unknown.
    if (!(error instanceof FactError)) throw error;
  });
}

/**
 * Shows what changes over the connections of the run, until it is interrupted: at once what the API tells, and what
 * only hosts know when they are observed again. Returns its exit code. @throws errors of kbuild itself
 */
export async function watchStatus(run: Run, flags: StatusOptions, statusNow: () => Status): Promise<number> {
  const { context, connected, signal, mask } = run;
  const watch = statusWatch();
  const api = apiWatchOf(run);
  const everyMs = (): number => flags.every ?? (api.isOpen() ? EVERY_WATCHED_MS : EVERY_MS);
  const display = displayOf(run, flags, { watch, everyMs });
  const stopped = new Promise<'stopped'>((resolve) => {
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
  const watching: Watching = { run, watch, api, everyMs, display, stopped };
  const isStopped = (): boolean => signal.aborted;
  let observedMs = context.nowMs();
  let notBeforeMs = 0;
  try {
    for (let isFirst = true; !isStopped(); isFirst = false) {
      const nowMs = context.nowMs();
      const status = mask.value(statusNow());
      const changes = watch.next(status, nowMs);
      if (isFirst || changes.length > 0) display.show(status, changes, nowMs);
      void api.begin();
      const isOfCluster = await isTold(watching, observedMs, notBeforeMs);
      if (isStopped()) break;
      const beganMs = context.nowMs();
      await during(watching, isOfCluster ? observeCluster(run, statusNow) : connected.observeAll());
      if (!isOfCluster) observedMs = context.nowMs();
      notBeforeMs = context.nowMs() + Math.max(LEAST_MS, 2 * (context.nowMs() - beganMs));
    }
  } finally {
    api.close();
  }
  display.close();
  return INTERRUPTED;
}
