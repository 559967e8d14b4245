import { open } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { type CommandStream, type FileLink, type Forwarded, isForbidden, type Link, type Started } from './link.ts';
import { TransferError } from './transport.ts';

type Done<T> = (error: (Error & { readonly code?: unknown }) | null | undefined, value?: T) => void;

/** What a link needs of ssh2's SFTP session. */
interface FileSession {
  fastPut(localPath: string, path: string, done: Done<unknown>): unknown;
  fastGet(path: string, localPath: string, done: Done<unknown>): unknown;
  writeFile(path: string, content: Buffer, done: Done<unknown>): unknown;
  readFile(path: string, done: Done<Buffer>): unknown;
  on(event: 'error' | 'close', listener: () => void): unknown;
  end(): unknown;
}

/** Files over one SFTP session. A session that ends first fails what is under way. */
function fileLinkOf(sftp: FileSession): FileLink {
  let fail: (error: Error) => void = () => undefined;
  const over = new Promise<never>((_, reject) => {
    fail = reject;
  });
  over.catch(() => undefined);
  const lost = () => fail(new TransferError('the connection was lost during a file transfer', 'lost'));
  sftp.on('error', lost);
  sftp.on('close', lost);

  const asked = <T>(act: (done: Done<T>) => void): Promise<T> =>
    Promise.race([
      over,
      new Promise<T>((resolve, reject) => {
        act((error, value) => {
          if (error === null || error === undefined) resolve(value as T);
          else reject(failure(error));
        });
      }),
    ]);

  return {
    async put(from, to) {
      await asked<unknown>((done) => {
        if (typeof from === 'string') sftp.fastPut(from, to, done);
        else sftp.writeFile(to, from, done);
      });
    },
    fetch: (from) => asked<Buffer>((done) => sftp.readFile(from, done)),
    async fetchTo(from, localPath) {
      // ssh2 opens it again, and leaves the mode of a file that is there.
      await (await open(localPath, 'wx', 0o600)).close();
      await asked<unknown>((done) => sftp.fastGet(from, localPath, done));
    },
    end: () => sftp.end(),
  };
}

function failure(error: Error & { readonly code?: unknown }): Error {
  if (typeof error.code === 'number') return new TransferError(error.message, error.code);
  // ssh2 gives no code to an operation whose session ended meanwhile.
  return /no response from server|channel|ended|closed/i.test(error.message)
    ? new TransferError(error.message, 'lost')
    : error;
}

/** What a link needs of an SSH client that has logged in. */
interface Session {
  /**
   * `allowHalfOpen`, as by default: a command that reads no more may still write. `early`: gets the channel when the
   * command was sent; only the ssh2 of the bundle calls it (ssh2.config.ts).
   */
  exec(
    commandLine: string,
    options: { readonly allowHalfOpen: true; readonly early: (stream: Duplex) => void },
    done: (error: Error | undefined, stream: CommandStream) => void,
  ): unknown;
  sftp(done: (error: Error | undefined, sftp: FileSession) => void): unknown;
  forwardOut(
    fromAddress: string,
    fromPort: number,
    address: string,
    port: number,
    done: (error: (Error & { readonly reason?: unknown }) | undefined, stream: Duplex) => void,
  ): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** The reasons of a server that forwards nothing (RFC 4254, 5.1), by their codes. */
const DENIALS: ReadonlyMap<unknown, string> = new Map([
  [1, 'administratively prohibited'],
  [3, 'unknown channel type'],
]);

/** ssh2 puts its own words before those of the server. */
const serversWords = (message: string): string => message.replace(/^\(SSH\) Channel open failure: /, '');

/** A connection from the host to an address. */
const forwardedBy = (client: Pick<Session, 'forwardOut'>, address: string, port: number): Promise<Forwarded> =>
  new Promise((resolve) => {
    try {
      client.forwardOut('127.0.0.1', 0, address, port, (error, stream) => {
        if (error === undefined) {
          // Its errors are told by what is spoken on it.
          stream.on('error', () => undefined);
          resolve({ kind: 'open', stream });
          return;
        }
        const said = serversWords(error.message);
        const denial = DENIALS.get(error.reason) ?? (isForbidden(said) ? 'forbidden' : undefined);
        resolve(
          denial === undefined ? { kind: 'failed', reason: said } : { kind: 'denied', reason: `${denial}: ${said}` },
        );
      });
    } catch {
      // ssh2 throws when its socket is not writable any more.
      resolve({ kind: 'failed', reason: 'the connection was lost' });
    }
  });

/** A connection with commands on it. */
export function linkOf(client: Session, lost: Promise<void>, server: Pick<Link, 'software' | 'loginMs'>): Link {
  let isLost = false;
  client.once('close', () => (isLost = true));
  // A half-open connection is found by the keepalive, as an error without a close.
  client.on('error', () => {
    client.destroy();
  });
  return {
    lost,
    isLost: () => isLost,
    start: (commandLine, begin) =>
      new Promise<Started>((resolve) => {
        let hasBegun = false;
        const beginOnce = (stream: Duplex): void => {
          if (hasBegun) return;
          hasBegun = true;
          // Writing to a command that has ended is not an error: the command's status is reported.
          stream.on('error', () => undefined);
          begin?.(stream);
        };
        try {
          client.exec(commandLine, { allowHalfOpen: true, early: beginOnce }, (error, stream) => {
            const result = started(error, stream);
            if (result.kind === 'started') beginOnce(stream);
            resolve(result);
          });
        } catch {
          // ssh2 throws when its socket is not writable any more.
          client.destroy();
          isLost = true;
          resolve({ kind: 'unsent' });
        }
      }),
    forward: (address, port) =>
      Promise.race([
        forwardedBy(client, address, port),
        lost.then(() => ({ kind: 'failed', reason: 'the connection was lost' }) as const),
      ]),
    files: () =>
      new Promise((resolve, reject) => {
        client.sftp((error, sftp) => {
          if (error === undefined) resolve(fileLinkOf(sftp));
          else reject(error);
        });
      }),
    ...server,
    destroy: () => void client.destroy(),
  };

  function started(error: Error | undefined, stream: CommandStream): Started {
    if (error === undefined) return { kind: 'started', stream, status: statusOf(stream) };
    const sent = error.message === 'Unable to exec';
    if (isLost) return { kind: sent ? 'lost' : 'unsent' };
    if (sent) return { kind: 'denied', reason: error.message };
    return { kind: 'refused', reason: error.message };
  }
}

/** Listens from the first moment: the status may come in the same packet as the answer that the command was started. */
function statusOf(stream: Duplex): () => number | string {
  let status: number | string = 'lost';
  stream.on('exit', (code: number | null | undefined, signal?: string) => {
    status = code ?? signal ?? 'lost';
  });
  return () => status;
}
