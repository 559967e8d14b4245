import { Transform } from 'node:stream';

/** Drops everything up to and including `mark`: what a login shell printed before the command began. */
export function startMark(mark: string): Transform {
  const wanted = Buffer.from(mark);
  let before: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (before === undefined) {
        done(null, chunk);
        return;
      }
      const seen = Buffer.concat([before, chunk]);
      const at = seen.indexOf(wanted);
      if (at === -1) {
        before = seen.subarray(Math.max(0, seen.length - wanted.length + 1));
        done();
        return;
      }
      before = undefined;
      done(null, seen.subarray(at + wanted.length));
    },
  });
}
