import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { type Pause, until } from '../wait.ts';
import type { CommandStream, Link, Started } from './link.ts';
import { duplexOf, muxForward } from './openssh-forward.ts';

/** What a command needs of the connection that it runs on. */
interface Master {
  readonly socket: string;
  readonly lost: Promise<void>;
  readonly isLost: () => boolean;
}

const POLL_MS = 5;
/** What ssh logs when the command has begun. */
const BEGUN = 'master session id';
/** The connection's own process may end a little after the commands on it. */
const LOST_MS = 1000;

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/**
 * Runs a command line through the connection's control socket, by a process of ssh that only passes bytes and never
 * connects by itself. Its own messages go to `log`, apart from the command's stderr.
 */
async function muxCommand(commandLine: string, master: Master, log: string, pause: Pause): Promise<Started> {
  const options = ['BatchMode=yes', 'ControlMaster=no', 'ProxyCommand=false', 'LogLevel=DEBUG2'].flatMap((one) => [
    '-o',
    one,
  ]);
  const args = ['-F', 'none', '-S', master.socket, ...options, '-E', log, '-T', '--', 'kbuild', commandLine];
  // A session of its own: Ctrl-C is for kbuild, which finishes the step that is under way.
  const child = spawn('ssh', args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  let status: number | string = 'lost';
  // Listens from the start: a command may end before kbuild has read that it began.
  const stderr = child.stderr.pipe(new PassThrough());
  const out = duplexOf(child);
  let last: string | undefined;
  const logged = () => last ?? textOf(log);
  child.once('close', (code) => {
    last = textOf(log);
    rmSync(log, { force: true });
    const exitStatus = /Received exit status from master (\d+)/.exec(last)?.[1];
    void (async () => {
      if (exitStatus === undefined) await Promise.race([master.lost, pause(LOST_MS)]);
      // No status and the connection is there: a signal, whose name ssh does not pass on.
      status =
        exitStatus !== undefined
          ? Number(exitStatus)
          : master.isLost()
            ? 'lost'
            : (code ?? 'signal') === 255
              ? 'signal'
              : code!;
      if (!out.readableEnded && !out.destroyed) await Promise.race([once(out, 'end'), once(out, 'close'), master.lost]);
      out.destroy();
    })();
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const begun = () => Promise.resolve(isOver() || logged().includes(BEGUN) ? true : undefined);
  const untilExit: Pause = (ms) => Promise.race([exited, pause(ms)]);
  await until(begun, Infinity, { pause: untilExit, nowMs: Date.now, everyMs: POLL_MS });
  if (!logged().includes(BEGUN)) {
    const reason = /session request failed: (.*)/.exec(logged())?.[1];
    out.destroy();
    rmSync(log, { force: true });
    return reason === undefined ? { kind: 'unsent' } : { kind: 'refused', reason: reason.trim() };
  }
  const stream: CommandStream = Object.assign(out, { stderr });
  return { kind: 'started', stream, status: () => status };
}

/** How OpenSSH is started for one connection. */
interface MasterOptions {
  readonly config: string;
  readonly address: string;
  /** In a folder of this run that no other user can enter. */
  readonly socket: string;
  readonly pause: Pause;
  readonly signal?: AbortSignal;
  /** Milliseconds until the login must have succeeded, whatever it waits for. */
  readonly deadlineMs: number;
}

const READY = 'kbuild-connected';

/**
 * Ends ssh when stdin does, which is when kbuild does, however it dies: the host's lock must not outlive its holder.
 * POSIX sh gives a background command /dev/null as stdin. ssh may miss a SIGTERM: OpenSSH 9.2 polls without a deadline
 * and without a signal mask, so one that comes just before is noticed only when something else happens.
 */
const GUARD = [
  'exec 3<&0',
  '"$@" 3<&- & p=$!',
  '{ cat <&3; kill "$p"; sleep 1; kill -KILL "$p"; } >/dev/null 2>&1 & w=$!',
  'exec 3<&-',
  'wait "$p"; s=$?; kill "$w" 2>/dev/null; exit "$s"',
].join('\n');

interface StartingMaster {
  readonly child: ChildProcessWithoutNullStreams;
  /** The end of what ssh printed on stderr. */
  readonly stderr: () => string;
  readonly ready: Promise<void>;
  readonly lost: Promise<void>;
  readonly isLost: () => boolean;
}

/** Starts ssh, which prints a line when the login has succeeded and the socket is there. */
function startSsh({ config, address, socket }: MasterOptions): StartingMaster {
  const options = [
    `ControlPath=${socket}`,
    'ControlMaster=yes',
    'PermitLocalCommand=yes',
    `LocalCommand=echo ${READY}`,
  ];
  const args = ['ssh', '-F', config, '-N', ...options.flatMap((option) => ['-o', option]), '--', address];
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', ...args], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-16_384)));
  let isLost = false;
  const lost = new Promise<void>((resolve) => {
    const end = () => {
      isLost = true;
      resolve();
    };
    child.once('exit', () => {
      child.stdin.destroy();
      isLost = true;
    });
    child.once('close', end);
    child.once('error', end);
  });
  const ready = new Promise<void>((resolve) => {
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-1024);
      if (printed.includes(READY)) resolve();
    });
  });
  return { child, stderr: () => stderr, ready, lost, isLost: () => isLost };
}

/** Waits for the login, the end of ssh, the deadline or the signal, whichever is first. */
async function outcomeOf({ ready, lost }: StartingMaster, { pause, signal, deadlineMs }: MasterOptions) {
  const late = new AbortController();
  let abort = (): void => undefined;
  // Not when ssh has ended: a ProxyCommand that hangs keeps its output open.
  const givenUp = new Promise<void>((resolve) => (abort = resolve));
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  const outcome = await Promise.race([
    ready.then(() => 'ready' as const),
    lost.then(() => 'ended' as const),
    pause(deadlineMs, late.signal).then(() => 'late' as const),
    givenUp.then(() => 'given up' as const),
  ]);
  late.abort();
  signal?.removeEventListener('abort', abort);
  return outcome;
}

/** Connects and logs in. Rejects with what ssh wrote on stderr as the message. */
export async function connectMaster(options: MasterOptions): Promise<Link> {
  const { socket, pause } = options;
  const started = startSsh(options);
  const { child, stderr, lost, isLost } = started;
  const outcome = await outcomeOf(started, options);
  if (outcome !== 'ready') {
    child.stdin.destroy();
    throw new Error(outcome === 'late' ? `${stderr()}the login timed out` : stderr());
  }
  let commands = 0;
  return {
    lost,
    isLost,
    start: async (commandLine, begin) => {
      const log = `${socket}-${String(++commands)}`;
      const result = await muxCommand(commandLine, { socket, lost, isLost }, log, pause);
      if (result.kind === 'started') begin?.(result.stream);
      return result;
    },
    forward: (address, port) => muxForward({ socket, stderr, address, port }, pause),
    // Only Windows hosts take files this way, and the inventory allows them the built-in client alone.
    files: () => Promise.reject(new Error('the openssh client transfers no files by SFTP')),
    software: '',
    destroy: () => void child.stdin.destroy(),
  };
}
