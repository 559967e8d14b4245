import type { Emit, Reporter, TimedEvent } from '../../engine/event.ts';
import type { LogEntry } from '../../remote/exchange.ts';
import { jsonReporter } from '../../report/json.ts';
import { commandLine, lineReporter } from '../../report/lines.ts';
import { logFile } from '../../report/log-file.ts';
import type { Masker } from '../../report/mask.ts';
import { lookOf } from '../../report/frame-text.ts';
import { standing, type Standing } from '../../report/standing.ts';
import { terminalReporter } from '../../report/terminal.ts';
import type { Context } from '../context.ts';
import type { Flags } from '../options.ts';
import type { Run, RunOptions } from './run.ts';
import type { RunLog } from './run-log.ts';

/** The output and the log of a run. */
export interface RunOutput
  extends Pick<RunLog, 'emit' | 'log' | 'onBegin'>, Pick<Run, 'draw' | 'stopDrawing' | 'logPath'> {
  readonly mask: Masker;
  /** The progress of the run, from its events so far. */
  readonly standing: Standing;
  /** Reports that Ctrl-C or the deadline ends the run. A tree shows no text: there it is printed too. */
  readonly showInterrupted: (summary: string) => void;
  /** Hosts' notes that a tree has not shown. */
  readonly undrawnNotes: () => readonly string[];
  /** Shows no event from now on; settles when all are shown. */
  readonly close: () => Promise<void>;
  readonly closeLog: () => Promise<void>;
}

const silent: Reporter = { report: () => undefined, close: () => Promise.resolve() };

/** @throws UsageError when the log cannot be written */
export function runOutput(
  context: Context,
  flags: Flags,
  { json }: RunOptions,
  mask: Masker,
  logPath: string,
): RunOutput {
  const isVerbose = flags.verbose === true;
  const file = logFile(logPath, (error) => context.err(`the log ${logPath} ends here: ${error.message}\n`));
  const lines = flags.quiet === true ? silent : lineReporter(context.err, isVerbose ? 'all' : 'usual');
  let shown: Reporter = flags.json === true && json === 'events' ? jsonReporter(context.out) : lines;
  let isOver = false;
  let wasDrawn = false;
  const current = standing();
  const now = (): string => new Date(context.nowMs()).toISOString();
  const showCommand = (entry: Pick<LogEntry, 'host' | 'command'>): void =>
    context.err(`${now().slice(11, 19)} ${commandLine(entry)}\n`);
  const emit: Emit = (event) => {
    if (isOver) return;
    current.note(event);
    const timed: TimedEvent = mask.value({ time: now(), ...event });
    file.report(timed);
    shown.report(timed);
  };
  return {
    mask,
    logPath,
    standing: current,
    emit,
    log(entry) {
      file.write(mask.value({ time: now(), ...entry }));
      if (isVerbose && 'command' in entry) showCommand(entry as LogEntry);
    },
    onBegin: isVerbose ? showCommand : undefined,
    draw(phases) {
      if (context.terminal === undefined || shown !== lines || flags.quiet === true || isVerbose) return;
      const look = lookOf(context.env, flags.color === false ? 'never' : undefined);
      shown = terminalReporter(phases, context.terminal, { nowMs: context.nowMs, look });
      wasDrawn = true;
    },
    async stopDrawing() {
      if (shown === lines || flags.json === true) return;
      await shown.close();
      shown = lines;
    },
    showInterrupted(summary) {
      emit({ kind: 'interrupted', summary });
      if (shown !== lines) context.err(`${summary}\n`);
    },
    undrawnNotes: () => (wasDrawn ? current.notes() : []),
    close() {
      isOver = true;
      return shown.close();
    },
    closeLog: file.close,
  };
}
