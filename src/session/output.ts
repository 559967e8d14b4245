import { access, constants, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Emit, Event, Reporter, TimedEvent } from '../engine/event.ts';
import { DeadlinePassed, Interrupted, UsageError } from '../errors.ts';
import { logFile } from '../report/files.ts';
import { jsonReporter } from '../report/json.ts';
import { commandLine, lineReporter, standing, type Standing } from '../report/lines.ts';
import type { Masker } from '../report/mask.ts';
import type { Note } from '../report/record/line.ts';
import type { Recorder } from '../report/record/record-files.ts';
import { runProgress } from '../report/run-progress.ts';
import type { RunRendererOptions } from '../report/run-renderer.ts';
import { lookOf } from '../report/terminal.ts';
import { systemRemedy, systemText } from '../shell/text.ts';
import type { LogEntry } from '../ssh/exchange.ts';
import type { Context, RunLog } from './context.ts';
import type { Flags } from './options.ts';
import type { Run, RunOptions } from './run.ts';

const unwritable = (path: string, error: unknown): UsageError =>
  new UsageError(`${path} cannot be written: ${systemText(error)}`, { remedy: systemRemedy(error), cause: error });

/**
 * Called before a host is contacted: a path that cannot be written is told before the work, not after it.
 * @throws UsageError
 */
export async function checkOutputFiles(
  { cwd }: Pick<Context, 'cwd'>,
  paths: readonly (string | undefined)[],
): Promise<void> {
  for (const path of paths) {
    if (path === undefined) continue;
    const file = resolve(cwd, path);
    try {
      const found = await stat(file).catch(() => undefined);
      if (found?.isDirectory() === true) throw Object.assign(new Error('is a folder'), { code: 'EISDIR' });
      await access(found === undefined ? dirname(file) : file, constants.W_OK);
    } catch (error) {
      throw unwritable(path, error);
    }
  }
}

/** Writes a file that the operator named. @throws UsageError */
export async function writeOutputFile({ cwd }: Pick<Context, 'cwd'>, path: string, content: string): Promise<void> {
  await writeFile(resolve(cwd, path), content).catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

/** The output and the log of a run. */
export interface RunOutput extends Pick<RunLog, 'emit' | 'log' | 'onBegin'>, Pick<Run, 'display' | 'logPath' | 'note'> {
  readonly mask: Masker;
  readonly isVerbose: boolean;
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

/** Where a run's output goes besides the terminal. */
interface OutputFiles {
  readonly mask: Masker;
  readonly logPath: string;
  readonly record: Recorder;
}

/** What a record holds of an entry of the log: commands, without their outputs. */
function commandNote(entry: object): Note | undefined {
  if (!('command' in entry) || !('durationMs' in entry)) return undefined;
  const { host, command, status, durationMs } = entry as LogEntry;
  return { kind: 'command', host, command, status, durationMs };
}

/** The log and the record: what both hold is masked once. @throws UsageError when the log cannot be written */
function filesOf(context: Context, { mask, logPath, record }: OutputFiles) {
  const file = logFile(logPath, (error) => context.err(`the log ${logPath} ends here: ${error.message}\n`));
  const now = (): string => new Date(context.nowMs()).toISOString();
  return {
    now,
    event(event: Event): TimedEvent {
      const timed = { time: now(), ...mask.value(event) };
      file.report(timed);
      record.write(timed);
      return timed;
    },
    log(entry: object): void {
      const time = now();
      const masked = { time, ...mask.value(entry) };
      file.write(masked);
      const note = commandNote(masked);
      if (note !== undefined) record.write({ time, ...note });
    },
    note: (note: Note): void => record.write({ time: now(), ...mask.value(note) }),
    close: file.close,
  };
}

/** @throws UsageError when the log cannot be written */
export function runOutput(
  context: Context,
  flags: Flags,
  { json }: RunOptions,
  { mask, logPath, record }: OutputFiles,
): RunOutput {
  const isVerbose = flags.verbose === true;
  const files = filesOf(context, { mask, logPath, record });
  const lines = flags.quiet === true ? silent : lineReporter(context.err, isVerbose ? 'all' : 'usual');
  let shown: Reporter = flags.json === true && json === 'events' ? jsonReporter(context.out) : lines;
  let isOver = false;
  let wasDrawn = false;
  const current = standing();
  const showCommand = (entry: Pick<LogEntry, 'host' | 'command'>): void =>
    context.err(`${files.now().slice(11, 19)} ${commandLine(entry)}\n`);
  const emit: Emit = (event) => {
    if (isOver) return;
    current.note(event);
    shown.report(files.event(event));
  };
  return {
    mask,
    isVerbose,
    logPath,
    standing: current,
    emit,
    log(entry) {
      files.log(entry);
      if (isVerbose && 'command' in entry) showCommand(entry as LogEntry);
    },
    note: (note) => {
      if (note.kind === 'plan') current.plan(note.changes.length);
      files.note(note);
    },
    onBegin: isVerbose ? showCommand : undefined,
    async display(phases) {
      const { terminal, nowMs, env } = context;
      if (terminal === undefined || shown !== lines || flags.quiet === true || isVerbose) return undefined;
      // A run without changes needs no listr2, which takes time to load.
      const { RunRenderer } = await import('../report/run-renderer.ts');
      const progress = runProgress(phases);
      const look = lookOf(env, flags.color === false ? 'never' : undefined);
      shown = { report: progress.note, close: () => Promise.resolve() };
      wasDrawn = true;
      const ended = (): void => void (shown = lines);
      const rendererOptions: RunRendererOptions = { progress, stream: terminal, nowMs, look, ended };
      return { renderer: RunRenderer as never, rendererOptions };
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
    closeLog: files.close,
  };
}

/** The remedy of every run that was cut off. */
export const GO_ON = 'run the same command again to go on from here';

/** How long work that is under way when the deadline passes may take to end, in ms. */
const GRACE_MS = 30_000;

const lasting = (ms: number): string => (ms % 60_000 === 0 ? `${String(ms / 60_000)} min` : `${String(ms / 1000)} s`);

/** How a run is ended from outside: by Ctrl-C, by `--timeout`, or by a lost lock. */
export interface RunStop {
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** From now on Ctrl-C ends the run, and what ends it is shown. */
  readonly listen: (context: Context, output: RunOutput) => void;
  /** Ctrl-C and the deadline no longer reach the run. */
  readonly release: () => void;
}

/** The deadline is `timeoutMs` from now: then no other work begins. `Infinity`: none. */
export function runStop(timeoutMs: number): RunStop {
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  const expired = new DeadlinePassed(`the run did not end within ${lasting(timeoutMs)} (--timeout)`, { remedy: GO_ON });
  let onDeadline = (): void => abort(expired);
  let onGraceEnd = (): void => undefined;
  const after = (ms: number, act: () => void): NodeJS.Timeout | undefined =>
    // A run that has ended does not wait for its deadline.
    ms === Infinity ? undefined : setTimeout(act, ms).unref();
  const timers = [after(timeoutMs, () => onDeadline()), after(timeoutMs + GRACE_MS, () => onGraceEnd())];
  let ignoreInterrupts = (): void => undefined;
  return {
    signal: controller.signal,
    abort,
    listen(context, output) {
      const finish = (why: string, reason: Error): void => {
        output.showInterrupted(`${why}\n${output.standing.text()}`);
        abort(reason);
      };
      const leave = (why: string): void => {
        const where = output.standing.text();
        output.log({ kind: 'stopped', standing: where });
        context.err(`\nkbuild: ${why}; ${where}\n  → ${GO_ON}; what runs on a host goes on there, and is waited for\n`);
      };
      ignoreInterrupts = context.onInterrupt(
        () =>
          finish(
            'interrupted: what is under way is finished, and nothing else begun; press again to stop at once',
            new Interrupted('interrupted'),
          ),
        () => leave('stopped at once'),
      );
      onDeadline = () =>
        finish(
          `${expired.message}: what is under way has ${lasting(GRACE_MS)} to end, and nothing else is begun`,
          expired,
        );
      onGraceEnd = () => {
        leave(expired.message);
        context.exit(expired.exitCode);
      };
    },
    release() {
      for (const timer of timers) clearTimeout(timer);
      ignoreInterrupts();
    },
  };
}
