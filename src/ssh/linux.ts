import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, ConnectError, pathRefused } from '../errors.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { sha256OfFile } from '../shell/plain-file.ts';
import { revealed, Secret, sha256Of } from '../shell/secret.ts';
import { script } from '../templates.ts';
import { type Pause, pause as realPause } from '../wait.ts';
import { jobDeadlineMs } from './deadlines.ts';
import { exchange, type Exchange, type ExchangeTools } from './exchange.ts';
import { hold } from './hold.ts';
import { runJob } from './job.ts';
import type { Remote } from './remote.ts';
import { restart } from './reboot.ts';
import type { Commands, Connection, ExecResult, Forwarding, Streams } from './transport.ts';

/** The methods of a Remote that read and write files. */
type Files = Pick<Remote<'sh'>, 'read' | 'write' | 'upload' | 'download'>;

/** The status with which templates/ssh/root-path.sh refuses a path. No program that kbuild runs ends with it. */
const REFUSED_STATUS = 117;

/**
 * Throws `CommandError` unless the status is 0; `Refused` for a path that another user than root can lead elsewhere.
 */
function succeeded(host: string, command: Command<'sh'>, result: ExecResult): string {
  if (result.status === REFUSED_STATUS) throw pathRefused(host, result.stderr.trim());
  if (result.status !== 0) throw new CommandError(host, command.title, result);
  return result.stdout;
}

/** A result whose output may be secret: of a failed command an error shows the end of what it printed. */
const untold = (result: ExecResult): ExecResult => (result.status === 0 ? result : { ...result, stdout: '' });

/** Runs a script that reads a secret on its stdin. */
const feedSecret = (on: Exchange, command: Command<'sh'>, secret: Secret): Promise<ExecResult> =>
  on.feed(command, revealed(secret));

/** The files of a Linux host. */
function files(on: Exchange): Files {
  const host = on.host.name;
  return {
    async read(path) {
      const command = titled(script('ssh/show-file.sh', { FILE: path }), `read ${path}`);
      const result = await on.ask(command, 'hidden', 'ask');
      if (result.dropped !== undefined)
        throw new CommandError(host, command.title, { ...result, status: 'too big', stdout: '' });
      return succeeded(host, command, untold(result));
    },
    async write(path, content, mode = content instanceof Secret ? 0o600 : 0o644) {
      const text = content instanceof Secret ? revealed(content) : content;
      const command = writing(path, mode, sha256Of(content));
      succeeded(host, command, await on.feed(command, text));
    },
    async upload(from, to, mode = 0o644) {
      const command = writing(to, mode, await sha256OfFile(from));
      succeeded(host, command, await on.send(command, from));
    },
    async download(from, to) {
      const command = titled(script('ssh/read-file.sh', { SOURCE: from }), `read ${from}`);
      await mkdir(dirname(to), { recursive: true });
      const temporary = `${to}.${randomBytes(6).toString('hex')}`;
      try {
        const result = await on.receive(command, temporary);
        succeeded(host, command, result);
        if (!result.stderr.includes(await sha256OfFile(temporary)))
          throw new CommandError(host, command.title, { ...result, status: 'changed while it was read' });
        await rename(temporary, to);
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}

const titled = (command: Command<'sh'>, title: string): Command<'sh'> => ({ ...command, title });

const writing = (path: string, mode: number, hash: string): Command<'sh'> =>
  titled(
    script('ssh/write-file.sh', { TARGET: path, MODE: mode.toString(8).padStart(4, '0'), SHA256: hash }),
    `write ${path}`,
  );

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
export interface LinuxRemote extends Remote<'sh'>, Forwarding {
  readonly host: LinuxHost;
  /** Connections and commands so far, and what the last login took. */
  readonly transport: Pick<Connection, 'connections' | 'commands' | 'loginMs'>;
  /**
   * Like `run`, but returns both streams whatever the status; its output is not logged. @throws NoAnswer if it is
   * silent for 3 min, ConnectError when the connection was lost.
   */
  ask(command: Command<'sh'>): Promise<ExecResult>;
  /** Ends the connection. */
  close(): Promise<void>;
}

/** @throws TypeError when the run's id is not fit for the name of a unit. */
export function linuxRemote(
  host: LinuxHost,
  transport: Connection & Commands & Streams & Forwarding,
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
      const secret = Secret.of(succeeded(host.name, command, untold(await on.ask(command, 'hidden', 'change'))));
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
    forward: (address, port) => transport.forward(address, port),
    restart: () => restart(on, context),
    renew: () => transport.renew(),
    close: () => transport.close(),
  };
}
