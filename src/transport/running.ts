import { boundedOutput } from './bounded-output.ts';
import { lineReader } from './line-reader.ts';
import type { CommandStream, Link } from './link.ts';
import type { Channel, ExecResult } from './transport.ts';

/** Default limit of each output stream, in bytes. */
export const MAX_BYTES = 64 * 1024 * 1024;

/** The result of a command whose connection ended before anything came back. */
export const LOST: ExecResult = { stdout: '', stderr: '', status: 'lost' };

/** A command that was started. */
export interface Running {
  readonly stream: CommandStream;
  /** Settles with the status when the channel has closed and its output was read. */
  readonly ended: Promise<number | string>;
}

/** ssh2 closes a channel only when its stdout and stderr were both read, and may emit nothing when the connection drops. */
export const endOf = (stream: CommandStream, status: () => number | string, link: Link): Promise<number | string> =>
  new Promise((resolve) => {
    const end = () => {
      resolve(status());
    };
    stream.on('close', end);
    void link.lost.then(() => setImmediate(() => setImmediate(end)));
  });

/** The result of a command, its output bounded. `heard` is called when some of it comes. */
export async function collect(
  { stream, ended }: Running,
  maxBytes: number,
  heard: () => void = () => undefined,
): Promise<ExecResult> {
  const output = boundedOutput(maxBytes);
  const errors = boundedOutput(maxBytes);
  stream.on('data', (chunk: Buffer) => output.add(chunk));
  stream.stderr.on('data', (chunk: Buffer) => errors.add(chunk));
  stream.on('data', heard);
  stream.stderr.on('data', heard);
  const status = await ended;
  const dropped = output.dropped() + errors.dropped();
  return { stdout: output.text(), stderr: errors.text(), status, ...(dropped > 0 ? { dropped } : {}) };
}

/** A channel that stays open: lines come in, text goes out. */
export function channelOf(running: Running, stdin: string, drop: () => void): Channel {
  const { stream } = running;
  const reader = lineReader();
  stream.on('data', (chunk: Buffer) => reader.add(chunk));
  const ended = collect(running, MAX_BYTES);
  stream.write(stdin);
  return {
    write(text) {
      if (stream.writable) stream.write(text);
    },
    ended,
    onLine: (listener) => reader.onLine(listener),
    close: () => {
      stream.end();
    },
    drop,
  };
}

/** What opening a channel gives when the connection ended meanwhile. */
export const endedChannel: Channel = {
  write: () => undefined,
  ended: Promise.resolve(LOST),
  onLine: () => undefined,
  close: () => undefined,
  drop: () => undefined,
};
