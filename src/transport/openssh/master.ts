import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Link } from '../link.ts';
import type { Pause } from '../../until.ts';
import { muxCommand } from './command.ts';

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
 * POSIX sh gives a background command /dev/null as stdin. ssh may miss a SIGTERM: OpenSSH 9.2 polls without a deadline and
 * without a signal mask, so one that comes just before is noticed only when something else happens.
 */
const GUARD = [
  'exec 3<&0',
  '"$@" 3<&- & p=$!',
  '{ cat <&3; kill "$p"; sleep 1; kill -KILL "$p"; } >/dev/null 2>&1 & w=$!',
  'exec 3<&-',
  'wait "$p"; s=$?; kill "$w" 2>/dev/null; exit "$s"',
].join('\n');

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  /** The end of what ssh printed on stderr. */
  readonly stderr: () => string;
  readonly ready: Promise<void>;
  readonly lost: Promise<void>;
  readonly isLost: () => boolean;
}

/** Starts ssh, which prints a line when the login has succeeded and the socket is there. */
function startSsh({ config, address, socket }: MasterOptions): Started {
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
async function outcomeOf({ ready, lost }: Started, { pause, signal, deadlineMs }: MasterOptions) {
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
    start: (commandLine) => muxCommand(commandLine, { socket, lost, isLost }, `${socket}-${String(++commands)}`, pause),
    // Only Windows hosts take files this way, and the inventory allows them the built-in client alone.
    files: () => Promise.reject(new Error('the openssh client transfers no files by SFTP')),
    software: '',
    destroy: () => void child.stdin.destroy(),
  };
}
