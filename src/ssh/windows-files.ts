import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, ConnectError } from '../errors.ts';
import { windowsPaths } from '../paths.ts';
import { objectOf, textIn } from '../shell/decode.ts';
import { sha256OfFile } from '../shell/file-hash.ts';
import { revealed, Secret, sha256Of } from '../shell/secret.ts';
import { powershell } from '../templates.ts';
import type { Remote } from './remote.ts';
import { type FileTransfers, TransferError } from './transport.ts';
import type { Exchange } from './windows-exchange.ts';

/** The methods of a Remote that read and write files. */
export type Files = Pick<Remote<'powershell'>, 'read' | 'write' | 'upload' | 'download'>;

/** A path in the form of OpenSSH's SFTP server: `/C:/k/kubeadm.exe`. */
const sftpPath = (path: string): string => `/${path.replaceAll('\\', '/')}`;

/**
 * Before the first transfer: creates the private folder for incoming files, so that other users cannot read them, and
 * deletes files of runs that were killed.
 */
function incomingFolder(on: Exchange): () => Promise<void> {
  let made: Promise<string> | undefined;
  return async () => {
    const parameters = { Root: windowsPaths.state, Path: windowsPaths.incoming };
    made ??= on.ask(titled(powershell('windows/incoming-folder.ps1', parameters), 'make a folder for files'), 'shown');
    await made.catch((error: unknown) => {
      made = undefined;
      throw error;
    });
  };
}

/** Runs a transfer and converts a TransferError. @throws CommandError; ConnectError if the connection was lost */
async function transferred<T>(host: string, title: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    if (error.code === 'lost')
      throw new ConnectError(host, `the connection was lost: ${title}`, { retryable: true, cause: error });
    throw new CommandError(host, title, { status: `SFTP ${String(error.code)}`, stdout: '', stderr: error.message });
  }
}

const accessOf = (mode: number): 'private' | 'inherited' => ((mode & 0o077) === 0 ? 'private' : 'inherited');

/**
 * The files of a Windows host. A written file first goes to a private folder; the host verifies its SHA-256 and moves
 * it.
 */
export function files(on: Exchange, transfers: FileTransfers): Files {
  const host = on.host.name;
  const folder = incomingFolder(on);
  const place = async (from: string | Buffer, to: string, sha256: string, access: 'private' | 'inherited') => {
    const title = `write ${to}`;
    await folder();
    const temporary = `${windowsPaths.incoming}\\${randomBytes(8).toString('hex')}`;
    await transferred(host, title, () => transfers.put(from, sftpPath(temporary)));
    const parameters = { Source: temporary, Target: to, Sha256: sha256, Access: access };
    await on.ask(titled(powershell('windows/place-file.ps1', parameters), title), 'shown');
  };
  return {
    async read(path) {
      const content = await transferred(host, `read ${path}`, () => transfers.fetch(sftpPath(path)));
      return content.toString('utf8');
    },
    async write(path, content, mode = content instanceof Secret ? 0o600 : 0o644) {
      const text = Buffer.from(content instanceof Secret ? revealed(content) : content);
      await place(text, path, sha256Of(content), accessOf(mode));
    },
    async upload(from, to, mode = 0o644) {
      await place(from, to, await sha256OfFile(from), accessOf(mode));
    },
    async download(from, to) {
      const title = `read ${from}`;
      await mkdir(dirname(to), { recursive: true });
      const temporary = `${to}.${randomBytes(6).toString('hex')}`;
      try {
        await transferred(host, title, () => transfers.fetchTo(sftpPath(from), temporary));
        const hash = titled(powershell('windows/file-hash.ps1', { Path: from }), title);
        const { sha256 } = objectOf(JSON.parse(await on.ask(hash, 'shown')));
        if (textIn(sha256).toLowerCase() !== (await sha256OfFile(temporary)))
          throw new CommandError(host, title, { status: 'changed while it was read', stdout: '', stderr: '' });
        await rename(temporary, to);
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}

const titled = <C extends object>(command: C, title: string): C => ({ ...command, title });
