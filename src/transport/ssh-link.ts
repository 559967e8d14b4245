import type { Duplex } from 'node:stream';
import type { CommandStream, Link, Started } from './link.ts';
import { fileLinkOf, type FileSession } from './ssh-files.ts';

/** What a link needs of an SSH client that has logged in. */
export interface Session {
  exec(commandLine: string, done: (error: Error | undefined, stream: CommandStream) => void): unknown;
  sftp(done: (error: Error | undefined, sftp: FileSession) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

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
    start: (commandLine) =>
      new Promise<Started>((resolve) => {
        try {
          client.exec(commandLine, (error, stream) => resolve(started(error, stream)));
        } catch {
          // ssh2 throws when its socket is not writable any more.
          client.destroy();
          isLost = true;
          resolve({ kind: 'unsent' });
        }
      }),
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
  // Writing to a command that has ended is not an error: the command's status is reported.
  stream.on('error', () => undefined);
  return () => status;
}
