import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { Duplex, PassThrough } from 'node:stream';
import type { CommandStream, Started } from '../link.ts';
import { until, type Pause } from '../../until.ts';

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

/** Stdin and stdout of a process as one stream. Closed when the status is known, not when both ways have ended. */
function duplexOf(child: ChildProcessWithoutNullStreams): Duplex {
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

/**
 * Runs a command line through the connection's control socket, by a process of ssh that only passes bytes and never connects
 * by itself. Its own messages go to `log`, apart from the command's stderr.
 */
export async function muxCommand(commandLine: string, master: Master, log: string, pause: Pause): Promise<Started> {
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
