import { ConnectError } from '../errors.ts';
import type { LinuxHost } from '../model/inventory.ts';
import type { Command } from '../shell/command.ts';
import { Secret } from '../shell/secret.ts';
import { pause as realPause, type Pause } from '../until.ts';
import type { Commands, Connection, ExecResult, Streams } from '../transport/transport.ts';
import { exchange, type ExchangeTools } from './exchange.ts';
import { feedSecret, files, succeeded } from './files.ts';
import { hold } from './held.ts';
import { runJob } from './job.ts';
import { jobDeadlineMs } from './job-deadlines.ts';
import type { Remote } from './remote.ts';
import { restart } from './restart.ts';

/** What a Linux remote needs of its run. */
export interface LinuxRemoteOptions extends ExchangeTools {
  /** Names the run in jobs: lower-case letters, digits and dashes. */
  readonly runId: string;
  /** Called when this run waits for a job of another run. */
  readonly onJobFollowed?: (summary: string) => void;
  /** Called with what a job of this run waits for, once for each thing. */
  readonly onJobWaits?: (summary: string, about: string) => void;
  /** Called every 5 s while a job of this run downloads: bytes so far, bytes per second. */
  readonly onJobLoads?: (bytes: number, bytesPerSecond: number, about: string) => void;
  /** After how many ms every job is ended, instead of the deadline of its kind. */
  readonly jobDeadlineMs?: number | undefined;
  readonly pause?: Pause;
  /** Called with each secret that `reveal` returns. */
  readonly onSecret?: (secret: Secret) => void;
}

/** A Linux host, everything as root: ssh.user is root, or may use `sudo -n`. */
export interface LinuxRemote extends Remote<'sh'> {
  readonly host: LinuxHost;
  /** Connections and commands so far, and what the last login took. */
  readonly transport: Pick<Connection, 'connections' | 'commands' | 'loginMs'>;
  /** Like `run`, but returns both streams whatever the status; its output is not logged. @throws NoAnswer if it is silent for 3 min, ConnectError when the connection was lost. */
  ask(command: Command<'sh'>): Promise<ExecResult>;
  /** Ends the connection. */
  close(): Promise<void>;
}

/** @throws TypeError when the run's id is not fit for the name of a unit. */
export function linuxRemote(
  host: LinuxHost,
  transport: Connection & Commands & Streams,
  options: LinuxRemoteOptions,
): LinuxRemote {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(options.runId)) throw new TypeError(`not a run id: ${options.runId}`);
  const on = exchange(host, transport, options);
  const pause = options.pause ?? realPause;
  const nowMs = options.nowMs ?? Date.now;
  // A run may start the same job twice. The number keeps their results apart.
  let jobs = 0;
  const context = { ...options, pause, nowMs, renew: () => transport.renew() };
  return {
    host,
    transport,
    ...files(on),
    run: async (command, input) =>
      succeeded(
        host.name,
        command,
        input === undefined ? await on.ask(command, 'shown', 'change') : await feedSecret(on, command, input),
      ),
    reveal: async (command) => {
      const secret = Secret.of(succeeded(host.name, command, await on.ask(command, 'hidden', 'change')));
      options.onSecret?.(secret);
      return secret;
    },
    async ask(command) {
      const result = await on.ask(command, 'hidden', 'ask');
      if (result.status === 'lost')
        throw new ConnectError(host.name, `the connection was lost during: ${command.title}`, { retryable: true });
      return result;
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
    hold: (command) => hold(on, command, pause),
    restart: () => restart(on, context),
    renew: () => transport.renew(),
    close: () => transport.close(),
  };
}
