import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex } from 'node:stream';

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
