import { randomBytes } from 'node:crypto';
import { CommandError, ConnectError } from '../errors.ts';
import type { WindowsHost } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { encodedCommand, hasBegun, readableErrors, resultsIn } from '../shell/powershell.ts';
import { lastLine } from '../shell/probe.ts';
import { windowsBootstrap } from '../templates.ts';
import { noAnswer } from './deadlines.ts';
import type { ExchangeTools, LogEntry } from './exchange.ts';
import type { Channel, Commands, ExecResult, TimeLimit } from './transport.ts';

/** What a script of a Windows host returned: the JSON text of its one result line. */
export interface Exchange {
  readonly host: WindowsHost;
  readonly nonce: () => string;
  readonly log: (entry: LogEntry) => void;
  /** Reports that the command of this name begins; `log` follows at its end. */
  readonly begin: (command: string) => void;
  /** `output`: `shown` puts it into the log. @throws CommandError, ConnectError; NoAnswer after `limit` */
  ask(command: Command<'powershell'>, output: 'shown' | 'hidden', limit?: TimeLimit): Promise<string>;
  /** Keeps the channel: the script may read what is written to it. */
  open(command: Command<'powershell'>): Promise<Channel>;
  /** The result of a channel that has ended. @throws CommandError, ConnectError */
  ended(command: Command<'powershell'>, result: ExecResult): string;
}

/** Characters of each output that the log keeps, from its end. */
const LOG_TAIL = 16 * 1024;

/** A probe hangs if Windows Management Instrumentation does. */
const HANGS =
  'does "Get-CimInstance Win32_OperatingSystem" answer there? If not, restart its service Winmgmt, or the host';

/** The bootstrap's status when the language mode is not FullLanguage. */
const OTHER_MODE = 87;

/** Scripts to a Windows host over its transport; every one is logged. */
export function exchange(host: WindowsHost, transport: Commands, tools: ExchangeTools): Exchange {
  const nowMs = tools.nowMs ?? Date.now;
  const commandLine = encodedCommand(windowsBootstrap());
  const log = (entry: LogEntry): void => tools.log?.(entry);
  const begin = (command: string): void => tools.onBegin?.({ host: host.name, command });

  const ended: Exchange['ended'] = (command, result) => {
    const { status, stdout } = result;
    const stderr = readableErrors(result.stderr);
    if (!hasBegun(stdout)) throw notBegun(host, command, { status, stdout, stderr });
    if (status !== 0) throw new CommandError(host.name, command.title, { status, stdout: '', stderr });
    const results = resultsIn(stdout);
    if (results.length === 1) return results[0]!;
    throw new CommandError(host.name, command.title, {
      status: `${String(results.length)} results`,
      stdout: readableOutput(stdout),
      stderr,
    });
  };

  return {
    host,
    log,
    begin,
    nonce: tools.nonce ?? (() => randomBytes(12).toString('hex')),
    ended,
    open: (command) => transport.open(commandLine, command.script),
    async ask(command, output, limit) {
      begin(command.title);
      const startedMs = nowMs();
      const result = await transport.exec(commandLine, {
        stdin: command.script,
        ...(limit === undefined ? {} : { limit }),
      });
      log({
        host: host.name,
        command: command.title,
        status: result.status,
        durationMs: nowMs() - startedMs,
        ...(output === 'shown' ? readable(result) : {}),
      });
      if (limit !== undefined && result.status === 'silent') throw noAnswer(host.name, command.title, limit, HANGS);
      return ended(command, result);
    },
  };
}

/**
 * What the log keeps of a script's output. The result stands there in base64, in which no secret can be recognised: it
 * is decoded first, so that the log masks what it holds.
 */
export const readable = ({ stdout, stderr }: Pick<ExecResult, 'stdout' | 'stderr'>) => ({
  stdout: (resultsIn(stdout)[0] ?? readableOutput(stdout)).slice(-LOG_TAIL),
  stderr: readableErrors(stderr).slice(-LOG_TAIL),
});

const readableOutput = (stdout: string): string =>
  stdout
    .replaceAll('\r', '')
    .split('\n')
    .filter((line) => line !== '' && !/^KBUILD-(?:BEGUN|RESULT:)/.test(line))
    .join('\n');

/** Why the bootstrap did not get as far as its payload. */
function notBegun(host: WindowsHost, command: Command<'powershell'>, result: ExecResult): Error {
  const { name, ssh } = host;
  const { status, stdout, stderr } = result;
  const refuse = (message: string, remedy: string) => new ConnectError(name, message, { retryable: false, remedy });
  if (status === 'lost')
    return new ConnectError(name, `the connection was lost before this began: ${command.title}`, { retryable: true });
  const mode = /^KBUILD-MODE: (\w+)/m.exec(stdout)?.[1];
  if (status === OTHER_MODE || mode !== undefined)
    return refuse(
      `PowerShell runs in ${mode ?? 'a restricted mode'} for ${ssh.user}; kbuild needs FullLanguage`,
      `a policy (WDAC or AppLocker) must trust scripts that ${ssh.user} runs: see ` +
        '$ExecutionContext.SessionState.LanguageMode',
    );
  if (/KBUILD stdin empty or cut short/.test(stderr))
    return new ConnectError(name, `the server cut off what it was sent: ${command.title}`, {
      retryable: true,
      remedy: 'OpenSSH for Windows before 7.7 does that: update it',
    });
  const output = `${stdout}\n${stderr}`;
  if (/not recognized|not found|No such file|CommandNotFound/i.test(output) || status === 127)
    return refuse(
      `there is no powershell.exe: ${lastLine(output)}`,
      'is this a Windows host? If not, remove "os: windows"; else Windows PowerShell must be in the PATH of sshd',
    );
  return new CommandError(
    name,
    command.title,
    { ...result, stdout: readableOutput(stdout) },
    `the shell of ${ssh.user} must run powershell.exe (DefaultShell of OpenSSH: cmd.exe or PowerShell)`,
  );
}
