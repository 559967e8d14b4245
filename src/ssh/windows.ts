import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, ConnectError } from '../errors.ts';
import type { WindowsHost } from '../inventory/inventory.ts';
import { windowsPaths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { objectOf, textIn } from '../shell/decode.ts';
import { sha256OfFile } from '../shell/plain-file.ts';
import { resultsIn } from '../shell/powershell.ts';
import { revealed, Secret, sha256Of } from '../shell/secret.ts';
import { powershell } from '../templates.ts';
import { type Pause, pause as realPause, until, type Waiting } from '../wait.ts';
import { jobDeadlineMs, LIMITS } from './deadlines.ts';
import { keepHeld } from './hold.ts';
import type { LinuxRemote, LinuxRemoteOptions } from './linux.ts';
import type { Held, Remote } from './remote.ts';
import { type Commands, type Connection, type FileTransfers, TransferError } from './transport.ts';
import { exchange, type Exchange } from './windows-exchange.ts';
import { runJob } from './windows-job.ts';

/** The methods of a Remote that read and write files. */
type Files = Pick<Remote<'powershell'>, 'read' | 'write' | 'upload' | 'download'>;

/** A path in the form of OpenSSH's SFTP server: `/C:/k/kubeadm.exe`. */
const sftpPath = (path: string): string => `/${path.replaceAll('\\', '/')}`;

/**
 * Runs a transfer into the private folder for incoming files. Before the first one, and after one that failed, creates
 * the folder, so that other users cannot read the files, and deletes what killed runs and lost connections left in it.
 */
function incomingFolder(on: Exchange): (transfer: () => Promise<void>) => Promise<void> {
  const { state: Root, incoming: Path } = windowsPaths;
  const make = titled(powershell('windows/incoming-folder.ps1', { Root, Path }), 'make a folder for files');
  let made: Promise<string> | undefined;
  let [failed, underway] = [false, 0];
  return async (transfer) => {
    // Not while another transfer is underway: its file would be deleted.
    if (failed && underway === 0) [made, failed] = [undefined, false];
    underway++;
    try {
      await (made ??= on.ask(make, 'shown'));
      await transfer();
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      underway--;
    }
  };
}

/** Runs a transfer and converts a TransferError. @throws CommandError; ConnectError if the connection was lost */
async function transferred<T>(host: string, title: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    if (error.code === 'lost')
      throw new ConnectError(host, `the connection was lost: ${title}`, { retryable: true, cause: error });
    throw new CommandError(host, title, { status: `SFTP ${String(error.code)}`, stdout: '', stderr: error.message });
  }
}

const accessOf = (mode: number): 'private' | 'inherited' => ((mode & 0o077) === 0 ? 'private' : 'inherited');

/**
 * The files of a Windows host. A written file first goes to a private folder; the host verifies its SHA-256 and moves
 * it.
 */
function files(on: Exchange, transfers: FileTransfers): Files {
  const host = on.host.name;
  const incoming = incomingFolder(on);
  const place = async (from: string | Buffer, to: string, sha256: string, access: 'private' | 'inherited') => {
    const title = `write ${to}`;
    const temporary = `${windowsPaths.incoming}\\${randomBytes(8).toString('hex')}`;
    await incoming(async () => {
      await transferred(host, title, () => transfers.put(from, sftpPath(temporary)));
      const place = { Source: temporary, Target: to, Sha256: sha256, Access: access };
      await on.ask(titled(powershell('windows/place-file.ps1', place), title), 'shown');
    });
  };
  return {
    async read(path) {
      const content = await transferred(host, `read ${path}`, () => transfers.fetch(sftpPath(path)));
      return content.toString('utf8');
    },
    async write(path, content, mode = content instanceof Secret ? 0o600 : 0o644) {
      const text = Buffer.from(content instanceof Secret ? revealed(content) : content);
      await place(text, path, sha256Of(content), accessOf(mode));
    },
    async upload(from, to, mode = 0o644) {
      await place(from, to, await sha256OfFile(from), accessOf(mode));
    },
    async download(from, to) {
      const title = `read ${from}`;
      await mkdir(dirname(to), { recursive: true });
      const temporary = `${to}.${randomBytes(6).toString('hex')}`;
      try {
        await transferred(host, title, () => transfers.fetchTo(sftpPath(from), temporary));
        const hash = titled(powershell('windows/file-hash.ps1', { Path: from }), title);
        const { sha256 } = objectOf(JSON.parse(await on.ask(hash, 'shown')));
        if (textIn(sha256).toLowerCase() !== (await sha256OfFile(temporary)))
          throw new CommandError(host, title, { status: 'changed while it was read', stdout: '', stderr: '' });
        await rename(temporary, to);
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}

const titled = <C extends object>(command: C, title: string): C => ({ ...command, title });

/**
 * Starts a script and returns once its result line (a JSON string, decoded) arrives. Sends a dot every ten seconds
 * until the script ends or the caller releases it. The server ends the process with its channel.
 */
async function hold(on: Exchange, command: Command<'powershell'>, pause: Pause): Promise<Held> {
  return keepHeld(await on.open(command), pause, {
    first: (line) => {
      const [result] = resultsIn(line);
      return result === undefined ? undefined : String(JSON.parse(result));
    },
    failure: (result) => {
      on.ended(command, result);
      return new CommandError(on.host.name, command.title, result);
    },
  });
}

/** Windows may complete the installation of a feature while it boots. */
const BOOT_MS = 15 * 60_000;
const POLL_MS = 2000;
/** How much the time of two answers may differ, besides the time that they took. */
const TOLERANCE_MS = 5000;

/**
 * Restarts the host and waits until it has been up for less than it would without: a host that shuts down still answers
 * for a while. Clocks prove nothing, because they are set after a boot.
 * @throws ConnectError if the host does not come back within 15 min.
 */
async function restart(on: Exchange, { pause, nowMs }: Pick<Waiting, 'pause' | 'nowMs'>): Promise<void> {
  const uptimeMs = async () =>
    Number(
      JSON.parse(await on.ask({ ...powershell('windows/uptime.ps1'), title: 'ask how long it has been up' }, 'shown')),
    );
  const before = await uptimeMs();
  const askedAt = performance.now();
  await on
    .ask({ ...powershell('windows/restart.ps1', { Before: String(before) }), title: 'restart' }, 'shown')
    .catch((error: unknown) => {
      // A lost connection may mean that the host shuts down. Any other error means that the restart was not requested.
      if (!(error instanceof Error) || !isLoss(error)) throw error;
    });
  const restarted = async () => {
    const now = await uptimeMs().catch(() => undefined);
    if (now === undefined) return undefined;
    const withoutRestart = before + (performance.now() - askedAt);
    return now < before || now < withoutRestart - TOLERANCE_MS ? true : undefined;
  };
  if ((await until(restarted, nowMs() + BOOT_MS, { pause, nowMs, everyMs: POLL_MS })) === true) return;
  throw new ConnectError(on.host.name, `does not come back after a restart (${String(BOOT_MS / 60_000)} min)`, {
    retryable: false,
  });
}

const isLoss = (error: Error): boolean =>
  error instanceof ConnectError || (error as { readonly status?: unknown }).status === 'lost';

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

/** A remote of a host of any system, with its connection. */
export type HostRemote = LinuxRemote | WindowsRemote;

/** True for the remote of a Windows host. */
export const isWindowsRemote = (remote: HostRemote): remote is WindowsRemote => remote.host.os === 'windows';
