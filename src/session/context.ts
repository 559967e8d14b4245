import { createReadStream, createWriteStream } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Emit } from '../engine/event.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { withoutCommands } from '../report/pipelines.ts';
import { styled } from '../report/styled.ts';
import { visible } from '../report/text.ts';
import type { Secret } from '../shell/secret.ts';
import { userFolder } from './user-folder.ts';

/** The terminal of a question. */
interface AskedOn {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks one question; `hidden` shows nothing of what is typed. @throws Interrupted on Ctrl-C, on Ctrl-D and when the
 * input ends; the reason of `signal` when it is aborted meanwhile
 */
export async function askQuestion(
  { input, output }: AskedOn,
  question: string,
  answer: 'shown' | 'hidden',
  signal?: AbortSignal,
): Promise<string> {
  signal?.throwIfAborted();
  // readline echoes to its output: what is typed goes nowhere then.
  const echo = answer === 'shown' ? output : new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: echo, terminal: true });
  // From here on the terminal itself shows nothing that is typed: who sees the question may answer it.
  if (answer === 'hidden') output.write(question);
  try {
    return await new Promise<string>((resolve, reject) => {
      let isOver = false;
      const once = (end: () => void): void => {
        if (isOver) return;
        isOver = true;
        end();
      };
      const stop = (error: Error): void =>
        once(() => {
          // The next output begins on a new line.
          if (answer === 'shown') output.write('\n');
          reject(error);
        });
      // readline takes Ctrl-C for itself: no signal reaches the process while it asks.
      reader.on('SIGINT', () => stop(new Interrupted('interrupted at a question')));
      reader.on('close', () => stop(new Interrupted('interrupted: the input ended at a question')));
      signal?.addEventListener('abort', () => stop(signal.reason as Error), { once: true });
      reader.question(answer === 'shown' ? question : '').then((text) => once(() => resolve(text)), reject);
    });
  } finally {
    reader.close();
    if (answer === 'hidden') output.write('\n');
  }
}

/** The process as commands see it; tests pass their own. */
export interface Context {
  /** kbuild's version. */
  readonly version: string;
  /** Results. What steers a terminal is shown as `\x1b`, here and in `err`. */
  readonly out: (text: string) => void;
  /** Progress, questions and errors. */
  readonly err: (text: string) => void;
  /** Writes workflow commands of GitHub Actions, whose texts are escaped already; undefined elsewhere. */
  readonly workflow?: ((text: string) => void) | undefined;
  /** stderr when it is a terminal that can redraw. */
  readonly terminal: NodeJS.WriteStream | undefined;
  /** stdout when it is a terminal that can redraw. */
  readonly display?: NodeJS.WriteStream | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Asks one question. @throws UsageError when there is no terminal to ask on; like `askQuestion`. */
  readonly ask: (question: string, signal?: AbortSignal) => Promise<string>;
  /** The same, without showing what is typed. */
  readonly askHidden: (question: string, signal?: AbortSignal) => Promise<string>;
  readonly canAsk: boolean;
  /**
   * Calls `first` at the first Ctrl-C, and `second` at the second one, which ends the process. Returns a function that
   * stops listening.
   */
  readonly onInterrupt: (first: () => void, second: () => void) => () => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** Text of hosts as a terminal may show it. In the log of GitHub Actions, no line of it is a workflow command. */
const shownText = (text: string, { env }: Pick<Context, 'env'>): string =>
  env['GITHUB_ACTIONS'] === 'true' ? withoutCommands(visible(text)) : visible(text);

const isDumb = (env: Context['env']): boolean => env['TERM'] === 'dumb' || (env['CI'] ?? '') !== '';

/** Writes prose to a stream: wrapped and in colours where it is a terminal, as it is elsewhere. */
export const proseTo =
  (stream: NodeJS.WriteStream, env: Context['env'], hasColours: boolean): ((text: string) => void) =>
  (text) => {
    const shown = shownText(text, { env });
    const style = { columns: stream.columns, hasColours: hasColours && (env['NO_COLOR'] ?? '') === '' };
    stream.write(stream.isTTY && !isDumb(env) ? styled(shown, style) : shown);
  };

/** How a command uses the process. */
interface ProcessOptions {
  readonly version: string;
  /** True: questions go to the terminal itself. */
  readonly inventoryOnStdin: boolean;
  /** False after `--no-color`. */
  readonly hasColours?: boolean;
  /** True: what the command prints is read by a program, and no line of it is wrapped. */
  readonly printsData?: boolean;
}

/** The real process. */
export function processContext(options: ProcessOptions): Context {
  const { env, stdin, stdout, stderr } = process;
  const dumb = isDumb(env);
  const hasColours = options.hasColours !== false;
  const canAsk = options.inventoryOnStdin ? stderr.isTTY : stdin.isTTY;
  const asked = async (question: string, answer: 'shown' | 'hidden', signal?: AbortSignal): Promise<string> => {
    if (!canAsk)
      throw new UsageError('there is no terminal to ask on', { remedy: 'pass --yes to go ahead without a question' });
    const input = options.inventoryOnStdin ? createReadStream('/dev/tty') : stdin;
    const output = options.inventoryOnStdin ? createWriteStream('/dev/tty') : stderr;
    return askQuestion({ input, output }, question, answer, signal);
  };
  return {
    version: options.version,
    out:
      options.printsData === true
        ? (text) => void stdout.write(shownText(text, { env }))
        : proseTo(stdout, env, hasColours),
    err: proseTo(stderr, env, hasColours),
    workflow: env['GITHUB_ACTIONS'] === 'true' ? (text) => void stderr.write(text) : undefined,
    terminal: stderr.isTTY && !dumb ? stderr : undefined,
    display: stdout.isTTY && !dumb ? stdout : undefined,
    env,
    cwd: process.cwd(),
    canAsk,
    ask: (question, signal) => asked(visible(question), 'shown', signal),
    askHidden: (question, signal) => asked(visible(question), 'hidden', signal),
    exit: (code) => process.exit(code),
    onInterrupt: (first, second) => {
      let count = 0;
      const listener = (): void => {
        count += 1;
        if (count === 1) {
          first();
          return;
        }
        second();
        process.exit(130);
      };
      process.on('SIGINT', listener);
      process.on('SIGTERM', listener);
      return () => {
        process.off('SIGINT', listener);
        process.off('SIGTERM', listener);
      };
    },
    nowMs: () => performance.timeOrigin + performance.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

/** Where a run reports to. */
export interface RunLog {
  /** In the names of its files and units, e.g. `20261121t165045z-0a1b2c3d`. */
  readonly runId: string;
  readonly emit: Emit;
  readonly log: (entry: object) => void;
  /** Called for every command on a host when it begins. */
  readonly onBegin?: ((entry: { readonly host: string; readonly command: string }) => void) | undefined;
  /** Called for every secret that becomes known, so that no output shows it. */
  readonly onSecret: (secret: Secret) => void;
  /** Aborted by Ctrl-C, the run's deadline or a lost lock. */
  readonly signal: AbortSignal;
}

/**
 * The user's home folder as the system knows it: a service of systemd has no $HOME. @throws UsageError if there is none
 */
function systemHome(): string {
  try {
    const { homedir } = userInfo();
    if (isAbsolute(homedir)) return homedir;
  } catch {
    // The user has no entry in passwd, as in some containers.
  }
  throw new UsageError('there is no folder for logs and records (found no home folder of this user)', {
    remedy: 'set HOME or XDG_STATE_HOME to an absolute path',
  });
}

/**
 * Where kbuild keeps logs, records and snapshots of a cluster on this machine: below $XDG_STATE_HOME, default
 * ~/.local/state.
 * @throws UsageError if there is no home folder
 */
export function stateFolder({ env }: Pick<Context, 'env'>, cluster: string): string {
  const state = userFolder(env, 'XDG_STATE_HOME', '.local/state') ?? join(systemHome(), '.local/state');
  return join(state, 'kbuild', cluster);
}

/** Where the records of a cluster's runs are. */
export const recordFolder = (context: Pick<Context, 'env'>, cluster: string): string =>
  join(stateFolder(context, cluster), 'runs');

/** A time in UTC as names of files hold it, with its milliseconds: `20261121T165045-000`. */
export const stamp = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replaceAll(/[-:]|Z/g, '')
    .replace('.', '-');
