import { open } from 'node:fs/promises';
import type { FileLink } from './link.ts';
import { TransferError } from './transport.ts';

type Done<T> = (error: (Error & { readonly code?: unknown }) | null | undefined, value?: T) => void;

/** What a link needs of ssh2's SFTP session. */
export interface FileSession {
  fastPut(localPath: string, path: string, done: Done<unknown>): unknown;
  fastGet(path: string, localPath: string, done: Done<unknown>): unknown;
  writeFile(path: string, content: Buffer, done: Done<unknown>): unknown;
  readFile(path: string, done: Done<Buffer>): unknown;
  on(event: 'error' | 'close', listener: () => void): unknown;
  end(): unknown;
}

/** Files over one SFTP session. A session that ends first fails what is under way. */
export function fileLinkOf(sftp: FileSession): FileLink {
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
