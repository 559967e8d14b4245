import { StringDecoder } from 'node:string_decoder';
import type { CommandStream, Link } from './link.ts';
import type { Channel, ExecResult } from './transport.ts';

/** Collects output in bounded memory. */
interface BoundedOutput {
  add(chunk: Buffer): void;
  /** What was kept, as UTF-8; the place of what was dropped is marked. */
  text(): string;
  /** Bytes dropped so far. */
  dropped(): number;
}

/** Keeps the beginning and the end, half of `maxBytes` each: operators need these two. */
export function boundedOutput(maxBytes: number): BoundedOutput {
  const half = Math.max(1, Math.floor(maxBytes / 2));
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let droppedBytes = 0;

  const addToTail = (chunk: Buffer) => {
    tail.push(chunk);
    tailBytes += chunk.length;
    let first = tail[0]!;
    while (tailBytes - first.length >= half) {
      tail.shift();
      tailBytes -= first.length;
      droppedBytes += first.length;
      first = tail[0]!;
    }
    if (tailBytes > half) {
      tail[0] = first.subarray(tailBytes - half);
      droppedBytes += tailBytes - half;
      tailBytes = half;
    }
  };

  return {
    add(chunk) {
      const fits = chunk.subarray(0, half - headBytes);
      if (fits.length > 0) {
        head.push(fits);
        headBytes += fits.length;
      }
      if (fits.length < chunk.length) addToTail(chunk.subarray(fits.length));
    },
    text() {
      if (droppedBytes === 0) return Buffer.concat([...head, ...tail]).toString('utf8');
      const mark = `\n[${String(droppedBytes)} bytes left out]\n`;
      return Buffer.concat(head).toString('utf8') + mark + Buffer.concat(tail).toString('utf8');
    },
    dropped: () => droppedBytes,
  };
}

/** A longer line is cut: no reader waits for such a line. */
const MAX_LINE = 64 * 1024;

/** Turns chunks into lines. Lines that came before the first listener are kept for it. */
function lineReader(): { add(chunk: Buffer): void; onLine(listener: (line: string) => void): void } {
  const decoder = new StringDecoder('utf8');
  const early: string[] = [];
  const listeners: ((line: string) => void)[] = [];
  let rest = '';

  return {
    add(chunk) {
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop()!.slice(0, MAX_LINE);
      for (const line of parts) {
        if (listeners.length === 0) early.push(line);
        for (const listener of listeners) listener(line);
      }
    },
    onLine(listener) {
      listeners.push(listener);
      for (const line of early.splice(0)) listener(line);
    },
  };
}

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

/**
 * ssh2 closes a channel only when its stdout and stderr were both read, and may emit nothing when the connection drops.
 */
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
export function channelOf(running: Running, drop: () => void): Channel {
  const { stream } = running;
  const reader = lineReader();
  stream.on('data', (chunk: Buffer) => reader.add(chunk));
  const ended = collect(running, MAX_BYTES);
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
