import type { Writable } from 'node:stream';
import { ConnectError } from '../errors.ts';
import { limiter } from '../limit.ts';
import { type Pause, until } from '../wait.ts';
import type { CommandStream, FileLink, Link, Started } from './link.ts';
import { endOf, type Running } from './output.ts';
import { TransferError } from './transport.ts';

/** sshd's default MaxSessions is 10, and it counts sessions that it has not yet cleaned up. */
const CHANNELS = 5;
/** How long kbuild retries if the server opens no channel, in ms. */
const REFUSALS_MS = 60_000;
/** How many new connections may end before a command was sent. */
const UNSENT = 3;

/** How a channel is used. */
interface ChannelUse {
  /** Ends the channel and gives its place to another, whether the host answers or not. */
  readonly dropped?: AbortSignal;
  /** Called when the channel has a place among the others. */
  readonly began?: () => void;
  /** Writes what the command reads first: as soon as it can be sent, again where the command was not sent. */
  readonly begin?: (stream: Writable) => void;
}

/** Channels of a host's connections, a few at once. */
export interface Channels {
  /**
   * Starts a command; undefined when the connection ended while it was being sent. @throws ConnectError
   */
  readonly start: (commandLine: string, use?: ChannelUse) => Promise<Running | undefined>;
  /** Transfers files. @throws ConnectError, TransferError */
  readonly transfer: <T>(act: (files: FileLink) => Promise<T>) => Promise<T>;
  /** How many commands were started. */
  readonly commands: () => number;
}

/** Starts a command, on another connection or later if it must. Also the connection that it was started on. */
async function started(
  name: string,
  commandLine: string,
  begin: ChannelUse['begin'],
  connected: () => Promise<Link>,
  untilFreed: Pause,
) {
  let refusedMs = 0;
  let unsent = 0;
  let waitMs = 0;
  const attempt = async () => {
    const link = await connected();
    const result = await link.start(commandLine, begin);
    if (result.kind === 'unsent') {
      if (++unsent > UNSENT)
        throw new ConnectError(name, 'the connection ends as soon as it is used', { retryable: true });
      waitMs = 0;
      return undefined;
    }
    if (result.kind !== 'refused') return { result, link };
    if (refusedMs >= REFUSALS_MS) throw noChannel(name, result);
    waitMs = Math.min(1000, 50 + refusedMs);
    refusedMs += waitMs;
    return undefined;
  };
  const freed: Pause = () => (waitMs === 0 ? Promise.resolve() : untilFreed(waitMs));
  return (await until(attempt, Infinity, { pause: freed, nowMs: Date.now, everyMs: 0 }))!;
}

/** Ends a stream as soon as it is dropped. */
const endOfDropped = (stream: CommandStream, dropped: AbortSignal): Promise<'lost'> =>
  new Promise((resolve) => {
    const drop = (): void => {
      stream.destroy();
      resolve('lost');
    };
    if (dropped.aborted) drop();
    else dropped.addEventListener('abort', drop, { once: true });
  });

/** Channels on the connections that `connected` returns. */
export function channelsOf(name: string, connected: () => Promise<Link>, pause: Pause): Channels {
  const places = limiter(CHANNELS);
  let commands = 0;
  const untilFreed: Pause = async (atMostMs) => {
    const freed = new AbortController();
    await Promise.race([pause(atMostMs, freed.signal), places.nextFreed()]);
    freed.abort();
  };
  return {
    commands: () => commands,
    async start(commandLine, { dropped, began, begin } = {}) {
      const giveBack = await places.take();
      began?.();
      dropped?.addEventListener('abort', giveBack, { once: true });
      if (dropped?.aborted === true) {
        giveBack();
        return undefined;
      }
      try {
        const { result, link } = await started(name, commandLine, begin, connected, untilFreed);
        if (result.kind === 'denied')
          throw new ConnectError(name, `the server runs no commands: ${result.reason}`, { retryable: false });
        if (result.kind === 'lost') {
          giveBack();
          return undefined;
        }
        commands++;
        const end = endOf(result.stream, result.status, link);
        const ended = dropped === undefined ? end : Promise.race([end, endOfDropped(result.stream, dropped)]);
        return { stream: result.stream, ended: ended.finally(giveBack) };
      } catch (error) {
        giveBack();
        throw error;
      }
    },
    transfer: (act) =>
      places.run(async () => {
        const link = await connected();
        const files = await link.files().catch((error: unknown) => {
          throw noTransfer(name, error as Error, link);
        });
        try {
          return await act(files);
        } finally {
          files.end();
        }
      }),
  };
}

const noChannel = (name: string, { reason }: Extract<Started, { readonly kind: 'refused' }>): ConnectError =>
  new ConnectError(name, `the server opens no channel: ${reason}`, {
    retryable: true,
    remedy: `sshd of ${name} must allow ${String(CHANNELS)} sessions a connection (MaxSessions)`,
  });

function noTransfer(name: string, error: Error, link: Link): Error {
  if (link.isLost()) return new TransferError('the connection was lost before a file transfer', 'lost');
  return new ConnectError(name, `the server transfers no files: ${error.message}`, {
    retryable: false,
    remedy:
      `sshd of ${name} must have its subsystem sftp: on Windows "Subsystem sftp sftp-server.exe" in ` +
      'C:\\ProgramData\\ssh\\sshd_config, then restart the service sshd',
    cause: error,
  });
}
