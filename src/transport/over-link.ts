import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { ConnectError } from '../errors.ts';
import { boundedOutput } from './bounded-output.ts';
import type { FileLink, Link } from './link.ts';
import type { Pause } from '../until.ts';
import { channelOf, collect, endedChannel, endOf, LOST, MAX_BYTES, type Running } from './running.ts';
import { limiter } from '../each-limit.ts';
import { startMark } from './start-mark.ts';
import { TransferError, type Transport } from './transport.ts';

/** sshd's default MaxSessions is 10, and it counts sessions that it has not yet cleaned up. */
const CHANNELS = 5;
/** How long a server that opens no channel is asked again, in ms. */
const REFUSALS_MS = 60_000;
/** How many new connections may end before a command was sent. */
const UNSENT = 3;

/** A transport over connections that `dial` makes: the first at once, another whenever the one before was lost. */
export async function overLinks(
  name: string,
  peer: string,
  dial: () => Promise<Link>,
  pause: Pause,
): Promise<Transport> {
  const places = limiter(CHANNELS);
  let connections = 0;
  let commands = 0;
  let closed = false;
  let software = '';
  let loginMs: number | undefined;

  const dialed = async () => {
    const link = await dial();
    connections++;
    ({ software, loginMs } = link);
    return link;
  };
  let current = dialed();
  await current;
  /** Connections that were renewed while something ran on them. */
  const older = new Set<Link>();

  const connected = async (): Promise<Link> => {
    const asked = current;
    const link = await asked.catch(() => undefined);
    if (closed) throw new ConnectError(name, 'the connection was closed', { retryable: false });
    if (link !== undefined && !link.isLost()) return link;
    // Whoever notices first dials; the others find its attempt here.
    if (current === asked) {
      current = dialed();
      current.catch(() => undefined);
      return current;
    }
    return connected();
  };

  const untilFreed = async (atMostMs: number) => {
    const freed = new AbortController();
    await Promise.race([pause(atMostMs, freed.signal), places.nextFreed()]);
    freed.abort();
    return atMostMs;
  };

  /** Starts a command on a channel; undefined when the connection ended while it was being sent. */
  const start = async (commandLine: string): Promise<Running | undefined> => {
    const giveBack = await places.take();
    try {
      let waitedMs = 0;
      let unsent = 0;
      for (;;) {
        const link = await connected();
        const started = await link.start(commandLine);
        switch (started.kind) {
          case 'started': {
            commands++;
            const ended = endOf(started.stream, started.status, link).finally(giveBack);
            return { stream: started.stream, ended };
          }
          case 'lost':
            giveBack();
            return undefined;
          case 'denied':
            throw new ConnectError(name, `the server runs no commands: ${started.reason}`, { retryable: false });
          case 'unsent':
            if (++unsent > UNSENT)
              throw new ConnectError(name, 'the connection ends as soon as it is used', { retryable: true });
            break;
          case 'refused':
            if (waitedMs >= REFUSALS_MS)
              throw new ConnectError(name, `the server opens no channel: ${started.reason}`, {
                retryable: true,
                remedy: `sshd of ${name} must allow ${String(CHANNELS)} sessions a connection (MaxSessions)`,
              });
            waitedMs += await untilFreed(Math.min(1000, 50 + waitedMs));
        }
      }
    } catch (error) {
      giveBack();
      throw error;
    }
  };

  /** One transfer of files, on a channel of its own. */
  const transfer = async <T>(act: (files: FileLink) => Promise<T>): Promise<T> => {
    const giveBack = await places.take();
    try {
      const link = await connected();
      const files = await link.files().catch((error: unknown) => {
        throw noTransfer(name, error as Error, link);
      });
      try {
        return await act(files);
      } finally {
        files.end();
      }
    } finally {
      giveBack();
    }
  };

  return {
    peer,
    get software() {
      return software;
    },
    get loginMs() {
      return loginMs;
    },
    put: (from, to) => transfer((files) => files.put(from, to)),
    fetch: (from) => transfer((files) => files.fetch(from)),
    fetchTo: (from, localPath) => transfer((files) => files.fetchTo(from, localPath)),
    renew() {
      const asked = current;
      current = asked
        .catch(() => undefined)
        .then((link) => {
          if (closed) throw new ConnectError(name, 'the connection was closed', { retryable: false });
          if (link !== undefined && !link.isLost()) older.add(link);
          return dialed();
        });
      current.catch(() => undefined);
    },
    get connections() {
      return connections;
    },
    get commands() {
      return commands;
    },
    async exec(commandLine, { stdin = '', maxBytes = MAX_BYTES } = {}) {
      const running = await start(commandLine);
      if (running === undefined) return LOST;
      const collected = collect(running, maxBytes);
      running.stream.end(stdin);
      return collected;
    },
    async open(commandLine, stdin) {
      const running = await start(commandLine);
      if (running === undefined) return endedChannel;
      return channelOf(running, stdin);
    },
    async send(commandLine, localPath, head = '') {
      const source = createReadStream(localPath, { highWaterMark: 256 * 1024 });
      await once(source, 'open');
      const running = await start(commandLine).finally(() => source.pause());
      if (running === undefined) {
        source.destroy();
        return LOST;
      }
      const collected = collect(running, MAX_BYTES);
      running.stream.write(head);
      // A command that ends early (a full disk) closes the channel: its status says so, not the pipe.
      await Promise.race([pipeline(source, running.stream).catch(() => undefined), running.ended]);
      source.destroy();
      return collected;
    },
    async receive(commandLine, localPath, { stdin = '', after } = {}) {
      const target = createWriteStream(localPath, { flags: 'wx', mode: 0o600 });
      await once(target, 'open');
      try {
        const running = await start(commandLine);
        if (running === undefined) return LOST;
        const errors = boundedOutput(MAX_BYTES);
        running.stream.stderr.on('data', (chunk: Buffer) => errors.add(chunk));
        running.stream.end(stdin);
        const copied =
          after === undefined ? pipeline(running.stream, target) : pipeline(running.stream, startMark(after), target);
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
    },
    async close() {
      if (closed) return;
      closed = true;
      // Nothing runs on them any more: a goodbye would only be waited for, a round trip a run.
      for (const one of older) one.destroy();
      const link = await current.catch(() => undefined);
      if (link !== undefined && !link.isLost()) link.destroy();
    },
  };
}

function noTransfer(name: string, error: Error, link: Link): Error {
  if (link.isLost()) return new TransferError('the connection was lost before a file transfer', 'lost');
  return new ConnectError(name, `the server transfers no files: ${error.message}`, {
    retryable: false,
    remedy: `sshd of ${name} must have its subsystem sftp: on Windows "Subsystem sftp sftp-server.exe" in C:\\ProgramData\\ssh\\sshd_config, then restart the service sshd`,
    cause: error,
  });
}
