import type { WindowsHost } from '../../model/inventory.ts';
import { ConnectError } from '../../errors.ts';
import type { Command } from '../../shell/command.ts';
import { Secret } from '../../shell/secret.ts';
import { pause as realPause } from '../../until.ts';
import type { Commands, Connection, FileTransfers } from '../../transport/transport.ts';
import { jobDeadlineMs } from '../job-deadlines.ts';
import type { LinuxRemoteOptions } from '../linux.ts';
import type { Remote } from '../remote.ts';
import { LIMITS } from '../no-answer.ts';
import { exchange } from './exchange.ts';
import { files } from './files.ts';
import { hold } from './hold.ts';
import { runJob } from './job.ts';
import { restart } from './restart.ts';

/** Options of a Windows remote. */
export interface WindowsRemoteOptions extends Omit<LinuxRemoteOptions, 'sudoPassword'> {
  /** Time limit of `ask`, in ms; default 3 min. */
  readonly askMs?: number;
}

/** A Windows host over OpenSSH for Windows. Its commands return their result as JSON text. */
export interface WindowsRemote extends Remote<'powershell'> {
  readonly host: WindowsHost;
  /** Numbers of connections and commands so far. */
  readonly transport: Pick<Connection, 'connections' | 'commands'>;
  /**
   * Like `run`, but its output is not logged. @throws NoAnswer after `withinMs` (default 3 min), ConnectError if the
   * connection was lost.
   */
  ask(command: Command<'powershell'>, withinMs?: number): Promise<string>;
  /** Ends the connection. */
  close(): Promise<void>;
}

/** Time limit for probes: a probe hangs if Windows Management Instrumentation does. */
const ASK_MS = 3 * 60_000;

/** Creates the remote of a Windows host. @throws TypeError if the run's ID cannot be part of a task's name. */
export function windowsRemote(
  host: WindowsHost,
  transport: Connection & Commands & FileTransfers,
  options: WindowsRemoteOptions,
): WindowsRemote {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(options.runId)) throw new TypeError(`not a run id: ${options.runId}`);
  const on = exchange(host, transport, options);
  const context = { ...options, pause: options.pause ?? realPause, nowMs: options.nowMs ?? Date.now };
  const askMs = options.askMs ?? ASK_MS;
  // A run may start the same job twice. The number keeps their results apart.
  let jobs = 0;
  return {
    host,
    transport,
    ...files(on, transport),
    run: (command) => on.ask(command, 'shown', LIMITS.change),
    async reveal(command) {
      const secret = Secret.of(await on.ask(command, 'hidden', LIMITS.change));
      options.onSecret?.(secret);
      return secret;
    },
    async ask(command, withinMs = askMs) {
      try {
        return await on.ask(command, 'hidden', { totalMs: withinMs });
      } catch (error) {
        if ((error as { readonly status?: unknown }).status !== 'lost') throw error;
        throw new ConnectError(host.name, `the connection was lost during: ${command.title}`, {
          retryable: true,
          cause: error,
        });
      }
    },
    job: (name, command, secrets = {}) =>
      runJob(
        on,
        {
          id: `${name}-${String(++jobs)}`,
          name,
          command,
          deadlineMs: command.deadlineMs ?? options.jobDeadlineMs ?? jobDeadlineMs(name),
          files: secrets,
        },
        context,
      ),
    hold: (command) => hold(on, command, context.pause),
    restart: () => restart(on, context),
    renew: () => transport.renew(),
    close: () => transport.close(),
  };
}
