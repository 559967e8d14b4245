import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Event, Reporter, TimedEvent } from '../../engine/event.ts';
import type { Phase } from '../../engine/step.ts';
import { DeadlinePassed, exitCodeOf, Interrupted, KbuildError, SeveralErrors } from '../../errors.ts';
import type { Inventory } from '../../model/inventory.ts';
import { secretData } from '../../inventory/secret-data.ts';
import { jsonReporter } from '../../report/json.ts';
import { severalText, unreachableText } from '../../report/failure.ts';
import { commandLine, lineReporter } from '../../report/lines.ts';
import type { LogEntry } from '../../remote/exchange.ts';
import { logFile } from '../../report/log-file.ts';
import { masker, type Masker } from '../../report/mask.ts';
import { standing } from '../../report/standing.ts';
import { writeBundle } from './support-bundle.ts';
import { connect, type Connected, type RunLog } from './connect.ts';
import type { Context } from '../context.ts';
import { deadline, GRACE_MS, type DeadlineEnds } from './deadline.ts';
import { checkDeadNames, refuseLivingDead } from './dead-hosts.ts';
import type { Flags } from '../options.ts';
import { checkOpenFiles } from './open-files.ts';
import { readInventory } from './read-inventory.ts';
import { checkSelection } from './check-selection.ts';

/** A command that talks to hosts: connected, observed, logged, interruptible. */
export interface Run extends RunLog {
  /** Its `out` and `err` show no secret. */
  readonly context: Context;
  readonly flags: Flags;
  /** The command's name, e.g. `up`. */
  readonly command: string;
  readonly inventory: Inventory;
  readonly connected: Connected;
  /** Aborted by Ctrl-C or the run's deadline. */
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** From now on events are drawn as a tree of these phases, where stderr is a terminal. */
  readonly draw: (phases: readonly Phase[]) => Promise<void>;
  /** Ends what draws, so that questions and results can be written. */
  readonly stopDrawing: () => Promise<void>;
  readonly logPath: string;
  readonly mask: Masker;
}

/** Commands that name hosts which do not answer in their own output. */
const SAYS_WHO_IS_MISSING: ReadonlySet<string> = new Set(['check', 'plan', 'up', 'status']);

const NOT_REACHED = 3;
const REFUSED = 7;

/** Why hosts do not answer: a refusal ends a command before it names them, and may be due to one of them. */
const silentText = (connected: Connected | undefined): string =>
  unreachableText(
    (connected?.watch.fleet().unreachable ?? []).filter(({ error }) => exitCodeOf(error) === NOT_REACHED),
  );

const GO_ON = 'run the same command again to go on from here';

const stamp = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
    .toLowerCase();

/** Where logs of a cluster go when `--log-file` says nothing. */
export function logFolder(context: Context, cluster: string): string {
  const state = context.env['XDG_STATE_HOME'] ?? join(context.env['HOME'] ?? context.cwd, '.local/state');
  return join(state, 'kbuild', cluster);
}

/** Loads, connects, observes, and calls `work`; always closes what it opened. `events`: does `--json` mean one event a line? */
export async function withRun(
  process: Context,
  flags: Flags,
  command: string,
  events: 'as-json' | 'never-json',
  work: (run: Run) => Promise<number>,
): Promise<number> {
  const controller = new AbortController();
  let ends: DeadlineEnds = { passed: (error) => controller.abort(error), over: () => undefined };
  const takeBack = deadline(command === 'windows-selftest' ? undefined : flags.timeout, {
    passed: (error) => ends.passed(error),
    over: (error) => ends.over(error),
  });
  const inventory = await readInventory(process, flags);
  checkSelection(inventory, flags);
  checkDeadNames(inventory, flags, command);
  const mask = masker([inventory, secretData(inventory)]);
  /** Ctrl-C at a question ends the whole run, also where the question is asked in the middle of it. */
  const asked =
    (ask: Context['ask']): Context['ask'] =>
    (question) =>
      ask(question, controller.signal).catch((error: unknown) => {
        if (error instanceof Interrupted) controller.abort(error);
        throw error;
      });
  const context: Context = {
    ...process,
    ask: asked(process.ask),
    askHidden: asked(process.askHidden),
    out: (text) => process.out(mask.text(text)),
    err: (text) => process.err(mask.text(text)),
  };
  const runId = `${stamp(context.nowMs())}-${randomBytes(4).toString('hex')}`;
  const path = flags.logFile ?? join(logFolder(context, inventory.name), `${runId}-${command}.log`);
  checkOpenFiles(inventory.hosts.length);
  const file = logFile(path, (error) => context.err(`the log ${path} ends here: ${error.message}\n`));
  const isVerbose = flags.verbose === true;
  const lines: Reporter =
    flags.quiet === true
      ? { report: () => undefined, close: () => Promise.resolve() }
      : lineReporter(context.err, isVerbose ? 'all' : 'usual');
  let shown: Reporter = flags.json === true && events === 'as-json' ? jsonReporter(context.out) : lines;
  const now = (): string => new Date(context.nowMs()).toISOString();
  const log = (entry: object): void => {
    file.write(mask.value({ time: now(), ...entry }));
    if (isVerbose && 'command' in entry) tellCommand(entry as LogEntry);
  };
  const tellCommand = (entry: Pick<LogEntry, 'host' | 'command'>): void =>
    context.err(`${now().slice(11, 19)} ${commandLine(entry)}\n`);
  const stands = standing();
  let isOver = false;
  const drawn = { once: false };
  const startedMs = context.nowMs();
  const emit = (event: Event): void => {
    if (isOver) return;
    stands.note(event);
    const timed: TimedEvent = mask.value({ time: now(), ...event });
    file.report(timed);
    shown.report(timed);
  };
  /** Nothing else begins. */
  const end = (why: string, reason: Error): void => {
    const summary = `${why}\n${stands.text()}`;
    emit({ kind: 'interrupted', summary });
    // What draws a tree shows no text.
    if (shown !== lines) context.err(`${summary}\n`);
    controller.abort(reason);
  };
  const leave = (why: string): void => {
    log({ kind: 'stopped', standing: stands.text() });
    context.err(
      `\nkbuild: ${why}; ${stands.text()}\n  → ${GO_ON}; what runs on a host goes on there, and is waited for\n`,
    );
  };
  const restore = context.onInterrupt(
    () => {
      end(
        'interrupted: what is under way is finished, and nothing else begun; press again to stop at once',
        new Interrupted('interrupted'),
      );
    },
    () => leave('stopped at once'),
  );
  ends = {
    passed: (error) => {
      const patience = `${String(GRACE_MS / 1000)} s`;
      end(`${error.message}: what is under way has ${patience} to end, and nothing else is begun`, error);
    },
    over: (error) => {
      leave(error.message);
      context.exit(error.exitCode);
    },
  };
  let connected: Connected | undefined;
  const bundle = async (): Promise<void> => {
    if (flags.bundle === undefined || connected === undefined) return;
    await writeBundle({ connected, context, inventory, logPath: path, mask }, flags.bundle);
  };
  try {
    controller.signal.throwIfAborted();
    connected = await connect(context, inventory, flags, {
      runId,
      emit,
      log,
      onSecret: mask.register,
      signal: controller.signal,
      onBegin: isVerbose ? tellCommand : undefined,
    });
    if (!SAYS_WHO_IS_MISSING.has(command)) context.err(unreachableText(connected.watch.fleet().unreachable));
    const stopDrawing = async (): Promise<void> => {
      if (shown === lines || flags.json === true) return;
      await shown.close();
      shown = lines;
    };
    refuseLivingDead({ flags, connected });
    const code = await work({
      context,
      flags,
      command,
      inventory,
      connected,
      runId,
      emit,
      log,
      onSecret: mask.register,
      mask,
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
      logPath: path,
      draw: async (phases) => {
        if (context.terminal === undefined || shown !== lines || flags.quiet === true || isVerbose) return;
        const { terminalReporter } = await import('../../report/terminal.ts');
        shown = terminalReporter(phases, context.terminal);
        drawn.once = true;
      },
      stopDrawing,
    });
    if (code !== 0 || command === 'status') await bundle();
    await stopDrawing();
    if (drawn.once) for (const note of stands.notes()) context.err(`${note}\n`);
    const closing = stands.closing(code, context.nowMs() - startedMs);
    if (closing !== undefined && (flags.quiet !== true || code !== 0)) context.err(`${closing}\n`);
    return code;
  } catch (error) {
    log({ kind: 'error', error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    const isEnded = error instanceof Interrupted || error instanceof DeadlinePassed;
    if (error instanceof Interrupted && !stands.hasBegun()) {
      error.message = `${error.message}; nothing was changed`;
      throw error;
    }
    if (exitCodeOf(error) === REFUSED && SAYS_WHO_IS_MISSING.has(command)) context.err(silentText(connected));
    context.err(`full log: ${path}\n`);
    await bundle().catch((failure: unknown) => context.err(`no bundle: ${(failure as Error).message}\n`));
    if (isEnded && stands.isAtWork()) context.err(`${stands.text()}\n`);
    if (error instanceof Interrupted) context.err(`→ ${GO_ON}\n`);
    // The code that prints this error cannot mask secrets.
    if (error instanceof Error) {
      error.message = mask.text(error.message);
      if (error.stack !== undefined) error.stack = mask.text(error.stack);
      if (error instanceof KbuildError && error.remedy !== undefined)
        Object.assign(error, { remedy: mask.text(error.remedy) });
      if (error instanceof SeveralErrors) error.message = mask.text(severalText(error.errors));
      const closing = stands.closing(exitCodeOf(error), context.nowMs() - startedMs);
      if (error instanceof KbuildError) Object.assign(error, { closing });
      else if (closing !== undefined) context.err(`${closing}\n`);
    }
    throw error;
  } finally {
    takeBack();
    restore();
    isOver = true;
    await shown.close();
    await connected?.close();
    await file.close();
  }
}
