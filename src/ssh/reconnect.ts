import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Pause } from '../wait.ts';
import { type Channels, channelsOf } from './channels.ts';
import { type Forwarded, type Link, linksOf } from './link.ts';
import { boundedOutput, channelOf, collect, endedChannel, LOST, MAX_BYTES } from './output.ts';
import type { Commands, ExecResult, FileTransfers, Forwarding, Streams, TimeLimit, Transport } from './transport.ts';

/** The result of a command that gave no answer within its limit. It may still run. */
const SILENT: ExecResult = { stdout: '', stderr: '', status: 'silent' };

/** What the work of a limited command reports and hears. */
interface Watch {
  /** Aborts when the limit has passed. */
  readonly expired: AbortSignal;
  /** The command is sent now: what others on the same connection take does not count. */
  readonly began: () => void;
  /** Bytes came or went. */
  readonly heard: () => void;
}

/** A check that comes so late means that this process stood still: what came meanwhile has not been read yet. */
const LATE_MS = 1000;
const AFTER_LATE_MS = 5000;
/** The longest time that a timer of Node can have. */
const LONGEST_MS = 2 ** 31 - 1;

/** A watch that calls `expire` when the limit has passed since the command began. */
function watchOf({ totalMs, silentMs = totalMs }: TimeLimit, expire: () => void) {
  let beganMs = 0;
  let heardMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const check = (dueMs: number): void => {
    const now = performance.now();
    const endMs = Math.min(beganMs + totalMs, heardMs + silentMs);
    if (endMs > now) checkIn(endMs - now);
    else if (now - dueMs > LATE_MS) checkIn(AFTER_LATE_MS);
    else expire();
  };
  const checkIn = (ms: number): void => {
    const inMs = Math.min(ms, LONGEST_MS);
    timer = setTimeout(check, inMs, performance.now() + inMs);
  };
  return {
    began: (): void => {
      clearTimeout(timer);
      beganMs = heardMs = performance.now();
      checkIn(Math.min(totalMs, silentMs));
    },
    heard: (): void => void (heardMs = performance.now()),
    end: (): void => clearTimeout(timer),
  };
}

const nothing = (): void => undefined;

/** The result of the work, or `SILENT` if it does not end within the limit. Without a limit it may take for ever. */
async function withinLimit(
  limit: TimeLimit | undefined,
  work: (watch: Watch) => Promise<ExecResult>,
): Promise<ExecResult> {
  const over = new AbortController();
  const expired = over.signal;
  if (limit === undefined) return work({ expired, began: nothing, heard: nothing });
  let watch: ReturnType<typeof watchOf> | undefined;
  const silent = new Promise<ExecResult>((resolve) => {
    watch = watchOf(limit, () => {
      resolve(SILENT);
      over.abort();
    });
  });
  const { began, heard, end } = watch!;
  try {
    return await Promise.race([work({ expired, began, heard }), silent]);
  } finally {
    end();
  }
}

/** Drops everything up to and including `mark`: what a login shell printed before the command began. */
function startMark(mark: string): Transform {
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

/** A transport over connections that `dial` makes: the first at once, another whenever the one before was lost. */
export async function overLinks(
  name: string,
  peer: string,
  dial: () => Promise<Link>,
  pause: Pause,
): Promise<Transport> {
  const links = await linksOf(name, dial);
  const channels = channelsOf(name, links.connected, pause);
  return {
    peer,
    get software() {
      return links.last().software;
    },
    get loginMs() {
      return links.last().loginMs;
    },
    get connections() {
      return links.count();
    },
    get commands() {
      return channels.commands();
    },
    renew: links.renew,
    close: links.close,
    ...commandsOn(channels),
    ...streamsOn(channels),
    ...filesOn(channels),
    ...forwardingOn(links.connected),
  };
}

const commandsOn = ({ start }: Channels): Commands => ({
  exec: (commandLine, { stdin = '', maxBytes = MAX_BYTES, limit } = {}) =>
    withinLimit(limit, async ({ expired, began, heard }) => {
      const running = await start(commandLine, { dropped: expired, began, begin: (stream) => void stream.end(stdin) });
      return running === undefined ? LOST : collect(running, maxBytes, heard);
    }),
  async open(commandLine, stdin) {
    const dropped = new AbortController();
    const running = await start(commandLine, { dropped: dropped.signal, begin: (stream) => void stream.write(stdin) });
    return running === undefined ? endedChannel : channelOf(running, () => dropped.abort());
  },
});

/** Remembers for each connection that its server forwards none. */
function forwardingOn(connected: () => Promise<Link>): Forwarding {
  const denials = new WeakMap<Link, Forwarded>();
  return {
    async forward(address, port) {
      const link = await connected();
      const known = denials.get(link);
      if (known !== undefined) return known;
      const forwarded = await link.forward(address, port);
      if (forwarded.kind === 'denied') denials.set(link, forwarded);
      return forwarded;
    },
  };
}

const filesOn = ({ transfer }: Channels): FileTransfers => ({
  put: (from, to) => transfer((files) => files.put(from, to)),
  fetch: (from) => transfer((files) => files.fetch(from)),
  fetchTo: (from, localPath) => transfer((files) => files.fetchTo(from, localPath)),
});

const streamsOn = ({ start }: Channels): Streams => ({
  send: (commandLine, localPath, head = '', limit) =>
    withinLimit(limit, (watch) => sent(start, { commandLine, localPath, head, ...watch })),
  receive: (commandLine, localPath, { stdin = '', after, limit } = {}) =>
    withinLimit(limit, (watch) => received(start, { commandLine, localPath, stdin, after, ...watch })),
});

interface Sending extends Watch {
  readonly commandLine: string;
  readonly localPath: string;
  readonly head: string;
}

async function sent(start: Channels['start'], { commandLine, localPath, head, expired, began, heard }: Sending) {
  const source = createReadStream(localPath, { highWaterMark: 256 * 1024 });
  await once(source, 'open');
  const begin = (stream: Writable): void => void stream.write(head);
  const running = await start(commandLine, { dropped: expired, began, begin }).finally(() => source.pause());
  if (running === undefined) {
    source.destroy();
    return LOST;
  }
  const collected = collect(running, MAX_BYTES, heard);
  running.stream.on('drain', heard);
  // A command that ends early (a full disk) closes the channel: its status is the reason, not the broken pipe.
  await Promise.race([pipeline(source, running.stream).catch(() => undefined), running.ended]);
  source.destroy();
  return collected;
}

interface Receiving extends Watch {
  readonly commandLine: string;
  readonly localPath: string;
  readonly stdin: string;
  readonly after: string | undefined;
}

async function received(
  start: Channels['start'],
  { commandLine, localPath, stdin, after, expired, began, heard }: Receiving,
) {
  const target = createWriteStream(localPath, { flags: 'wx', mode: 0o600 });
  await once(target, 'open');
  try {
    const running = await start(commandLine, { dropped: expired, began, begin: (stream) => void stream.end(stdin) });
    if (running === undefined) return LOST;
    const errors = boundedOutput(MAX_BYTES);
    running.stream.stderr.on('data', (chunk: Buffer) => errors.add(chunk));
    const copied =
      after === undefined ? pipeline(running.stream, target) : pipeline(running.stream, startMark(after), target);
    running.stream.on('data', heard);
    const failure = copied.then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
    const status = await running.ended;
    // Without its end mark the stream of a lost connection would stay open.
    if (status === 'lost') running.stream.destroy();
    const failed = await failure;
    if (failed !== undefined && status !== 'lost') throw failed;
    return { stdout: '', stderr: errors.text(), status };
  } finally {
    target.destroy();
  }
}
