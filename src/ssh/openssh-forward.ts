import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { type Pause, until } from '../wait.ts';
import { type Forwarded, isForbidden } from './link.ts';

/** Stdin and stdout of a process as one stream. Closed when the status is known, not when both ways have ended. */
export function duplexOf(child: ChildProcessWithoutNullStreams): Duplex {
  const out = new Duplex({
    autoDestroy: false,
    read: () => void child.stdout.resume(),
    write: (chunk, _encoding, done) => void child.stdin.write(chunk, () => done()),
    final: (done) => {
      child.stdin.end();
      done();
    },
    destroy: (error, done) => {
      child.kill();
      done(error);
    },
  });
  child.stdout.on('data', (chunk: Buffer) => {
    if (!out.push(chunk)) child.stdout.pause();
  });
  child.stdout.once('end', () => out.push(null));
  return out;
}

/** What a forwarded connection needs of the connection that carries it. */
interface Carried {
  /** The connection's control socket. */
  readonly socket: string;
  /** The end of what the connection's own process has written on stderr. */
  readonly stderr: () => string;
  readonly address: string;
  readonly port: number;
}

/** What ssh logs when the channel is open (mux.c: the answer is deferred until the server has confirmed it). */
const OPENED = 'master session id';
/** What the connection's own process logs of a host that did not reach the address (channels.c). */
const NOT_REACHED = /open failed: connect failed: ([^\r\n]*)/g;
const POLL_MS = 5;
/** The two processes write to two pipes: the reason may be read a little after the end. */
const REASON_MS = 100;

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/**
 * Connects from the host to an address through the control socket, by a process of ssh that only passes bytes. Where
 * the connection does not say that the host did not reach the address, the server is taken to forward none: kbuild
 * then runs a command on the host, which tells more.
 */
export async function muxForward({ socket, stderr, address, port }: Carried, pause: Pause): Promise<Forwarded> {
  const options = ['BatchMode=yes', 'ControlMaster=no', 'ProxyCommand=false', 'LogLevel=DEBUG2'].flatMap((one) => [
    '-o',
    one,
  ]);
  const target = `${bracketed(address)}:${String(port)}`;
  const args = ['-F', 'none', '-S', socket, ...options, '-W', target, '--', 'kbuild'];
  const before = [...stderr().matchAll(NOT_REACHED)].length;
  const child = spawn('ssh', args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  let logged = '';
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (chunk: Buffer) => (logged = (logged + chunk.toString()).slice(-16_384)));
  const stream = duplexOf(child);
  stream.on('error', () => undefined);
  let isOver = false;
  const exited = new Promise<void>((resolve) => {
    const over = (): void => {
      isOver = true;
      resolve();
    };
    child.once('close', () => {
      over();
      stream.destroy();
    });
    child.once('error', over);
  });
  const untilExit: Pause = (ms) => Promise.race([exited, pause(ms)]);
  const settled = () => Promise.resolve(isOver || logged.includes(OPENED) ? true : undefined);
  await until(settled, Infinity, { pause: untilExit, nowMs: Date.now, everyMs: POLL_MS });
  if (logged.includes(OPENED)) return { kind: 'open', stream };
  stream.destroy();
  const told = () => Promise.resolve([...stderr().matchAll(NOT_REACHED)].slice(before).at(-1)?.[1]);
  const reason = await until(told, Date.now() + REASON_MS, { pause, nowMs: Date.now, everyMs: POLL_MS });
  if (reason !== undefined) return { kind: isForbidden(reason) ? 'denied' : 'failed', reason };
  return {
    kind: 'denied',
    reason: /forwarding request failed: (.*)/.exec(logged)?.[1]?.trim() ?? 'ssh did not say why',
  };
}
