import { randomBytes } from 'node:crypto';
import { CommandError, ConnectError, NoAnswer } from '../errors.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { LIMITS, noAnswer } from './deadlines.ts';
import { becomeRoot, framed, framedWithInput, type SudoPassword, unframed, type Wrap } from './root.ts';
import type { Channel, Commands, ExecResult, Streams, TimeLimit } from './transport.ts';

/** One command that was run, for the run's log. Carries no secret: outputs are there only where they may be shown. */
export interface LogEntry {
  readonly host: string;
  readonly command: string;
  readonly status: number | string;
  readonly durationMs: number;
  /** The end of the outputs. */
  readonly stdout?: string;
  readonly stderr?: string;
}

/** What an exchange needs of the outside world. */
export interface ExchangeTools {
  readonly log?: ((entry: LogEntry) => void) | undefined;
  /** Called when a command of the log begins. */
  readonly onBegin?: ((entry: Pick<LogEntry, 'host' | 'command'>) => void) | undefined;
  readonly nowMs?: () => number;
  /** A fresh unguessable word. */
  readonly nonce?: () => string;
  /** Limits of commands; default: `LIMITS`. */
  readonly limits?: Partial<Record<keyof typeof LIMITS, TimeLimit>> | undefined;
  /** After how long a silence, in ms, a host with a job or a lock is asked whether it still answers; default 2 min. */
  readonly silenceMs?: number | undefined;
  /** Called if sudo wants a password; at most once. */
  readonly sudoPassword?: SudoPassword | undefined;
}

/**
 * Scripts to one host and their results, as root. Results of any status are returned; a script that could not begin
 * throws.
 */
export interface Exchange {
  readonly host: LinuxHost;
  readonly nonce: () => string;
  /** After how long a silence, in ms, a host with a job or a lock is asked whether it still answers. */
  readonly silenceMs: number;
  readonly log: (entry: LogEntry) => void;
  /** Reports that the command of this name begins; `log` follows at its end. */
  readonly begin: (command: string) => void;
  /** `output`: `shown` puts it into the log. `kind`: how long it may take. @throws NoAnswer after that */
  ask(command: Command<'sh'>, output: 'shown' | 'hidden', kind: 'ask' | 'short' | 'change'): Promise<ExecResult>;
  /** The script reads `input` on its stdin. */
  feed(command: Command<'sh'>, input: string): Promise<ExecResult>;
  /** The script reads the local file on its stdin. */
  send(command: Command<'sh'>, localPath: string): Promise<ExecResult>;
  /** The script's stdout becomes a new local file. */
  receive(command: Command<'sh'>, localPath: string): Promise<ExecResult>;
  /** Keeps the channel; the script may read what is written to it. The nonce is the first line that is of interest. */
  open(command: Command<'sh'>): Promise<{ readonly channel: Channel; readonly nonce: string }>;
  /** The result of a channel. @throws CommandError when the script never began. */
  began(command: Command<'sh'>, result: ExecResult, nonce: string): ExecResult;
}

const LOG_TAIL = 16 * 1024;

const SILENCE_MS = 2 * 60_000;

/**
 * How the user who logs in becomes root: found out with the first command; again if the connection was lost meanwhile.
 */
function rootOf(host: LinuxHost, transport: Commands, nonce: () => string, tools: ExchangeTools): () => Promise<Wrap> {
  let root: Promise<Wrap> | undefined;
  return () => {
    root ??= becomeRoot(
      host,
      ({ commandLine, stdin }) => transport.exec(commandLine, { stdin, limit: limitOf(tools, 'short') }),
      nonce,
      tools.sudoPassword ?? (() => Promise.resolve(undefined)),
    );
    root.catch((error: unknown) => {
      if (error instanceof NoAnswer || (error instanceof ConnectError && error.retryable)) root = undefined;
    });
    return root;
  };
}

/** The log, with the end of the outputs. */
const logOf =
  (tools: ExchangeTools): Exchange['log'] =>
  ({ stdout, stderr, ...entry }) =>
    tools.log?.({
      ...entry,
      ...(stdout === undefined ? {} : { stdout: stdout.slice(-LOG_TAIL) }),
      ...(stderr === undefined ? {} : { stderr: stderr.slice(-LOG_TAIL) }),
    });

/** The limit of a kind of commands. */
const limitOf = ({ limits }: Pick<ExchangeTools, 'limits'>, kind: keyof typeof LIMITS): TimeLimit =>
  limits?.[kind] ?? LIMITS[kind];

/** The result of a script, without its frame. @throws CommandError, ConnectError when the script never began */
function resultOf(host: LinuxHost, command: Command<'sh'>, result: ExecResult, word: string): ExecResult {
  const own = unframed(result, word);
  if (own !== undefined) return own;
  if (result.status === 'lost')
    throw new ConnectError(host.name, `the connection was lost before this began: ${command.title}`, {
      retryable: true,
    });
  throw new CommandError(host.name, command.title, result, notBegun(host));
}

/**
 * Runs a script, logs it, and returns its result without its frame. @throws NoAnswer if there is none within the limit
 * of its kind
 */
type Timed = (
  command: Command<'sh'>,
  kind: keyof typeof LIMITS,
  output: 'shown' | 'hidden',
  run: (word: string, wrap: Wrap, limit: TimeLimit) => Promise<ExecResult>,
) => Promise<ExecResult>;

/** Scripts to a host over its transport; each of them is logged. */
export function exchange(host: LinuxHost, transport: Commands & Streams, tools: ExchangeTools): Exchange {
  const nowMs = tools.nowMs ?? Date.now;
  const nonce = tools.nonce ?? (() => randomBytes(12).toString('hex'));
  const asRoot = rootOf(host, transport, nonce, tools);
  const log = logOf(tools);
  const begin = (command: string): void => tools.onBegin?.({ host: host.name, command });

  const timed: Timed = async (command, kind, output, run) => {
    const limit = limitOf(tools, kind);
    const wrap = await asRoot();
    const word = nonce();
    begin(command.title);
    const startedMs = nowMs();
    const result = await run(word, wrap, limit);
    const { stdout, stderr } = unframed(result, word) ?? result;
    log({
      host: host.name,
      command: command.title,
      status: result.status,
      durationMs: nowMs() - startedMs,
      ...(output === 'shown' ? { stdout, stderr } : {}),
    });
    if (result.status === 'silent') throw noAnswer(host.name, command.title, limit);
    return resultOf(host, command, result, word);
  };

  return {
    host,
    nonce,
    silenceMs: tools.silenceMs ?? SILENCE_MS,
    log,
    begin,
    began: (command, result, word) => resultOf(host, command, result, word),
    ...conversations(transport, timed),
    async open(command) {
      const wrap = await asRoot();
      const word = nonce();
      const { commandLine, stdin } = framedWithInput(wrap, command.script, word);
      return { channel: await transport.open(commandLine, stdin), nonce: word };
    },
  };
}

/** Scripts that run to their end, by their input and the use of their output. */
const conversations = (
  transport: Commands & Streams,
  timed: Timed,
): Pick<Exchange, 'ask' | 'feed' | 'send' | 'receive'> => ({
  ask: (command, output, kind) =>
    timed(command, kind, output, (word, wrap, limit) => {
      const { commandLine, stdin } = framed(wrap, command.script, word);
      return transport.exec(commandLine, { stdin, limit });
    }),
  feed: (command, input) =>
    timed(command, 'change', 'shown', (word, wrap, limit) => {
      const { commandLine, stdin } = framedWithInput(wrap, command.script, word);
      return transport.exec(commandLine, { stdin: stdin + input, limit });
    }),
  send: (command, localPath) =>
    timed(command, 'file', 'shown', (word, wrap, limit) => {
      const { commandLine, stdin } = framedWithInput(wrap, command.script, word);
      return transport.send(commandLine, localPath, stdin, limit);
    }),
  receive: (command, localPath) =>
    timed(command, 'file', 'shown', async (word, wrap, limit) => {
      const { commandLine, stdin } = framed(wrap, command.script, word);
      const result = await transport.receive(commandLine, localPath, { stdin, after: `${word}\n`, limit });
      // The stream went to the file; that the script began is seen on stderr alone.
      return result.stderr.includes(`${word}\n`) ? { ...result, stdout: `${word}\n` } : result;
    }),
});

const notBegun = ({ name, ssh: { user } }: LinuxHost): string =>
  `${user} of ${name} must have a login shell that runs /bin/sh`;
