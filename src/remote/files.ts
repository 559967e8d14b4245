import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, pathRefused } from '../errors.ts';
import type { Command } from '../shell/command.ts';
import { revealed, Secret, sha256Of } from '../shell/secret.ts';
import { sha256OfFile } from '../shell/file-hash.ts';
import { onRootPath, script } from '../templates.ts';
import type { ExecResult } from '../transport/transport.ts';
import type { Exchange } from './exchange.ts';
import type { Remote } from './remote.ts';

/** The methods of a Remote that read and write files. */
export type Files = Pick<Remote<'sh'>, 'read' | 'write' | 'upload' | 'download'>;

/** The status with which templates/linux/root-path.sh refuses a path. No program that kbuild runs ends with it. */
const REFUSED_STATUS = 117;

/** Throws `CommandError` unless the status is 0; `Refused` for a path that another user than root can lead elsewhere. */
export function succeeded(host: string, command: Command<'sh'>, result: ExecResult): string {
  if (result.status === REFUSED_STATUS) throw pathRefused(host, result.stderr.trim());
  if (result.status !== 0) throw new CommandError(host, command.title, result);
  return result.stdout;
}

/** Runs a script that reads a secret on its stdin. */
export const feedSecret = (on: Exchange, command: Command<'sh'>, secret: Secret): Promise<ExecResult> =>
  on.feed(command, revealed(secret));

/** The files of a Linux host. */
export function files(on: Exchange): Files {
  const host = on.host.name;
  return {
    async read(path) {
      const command = titled(onRootPath(script('linux/show-file.sh', { FILE: path })), `read ${path}`);
      const result = await on.ask(command, 'hidden', 'ask');
      if (result.dropped !== undefined)
        throw new CommandError(host, command.title, { ...result, status: 'too big', stdout: '' });
      return succeeded(host, command, result);
    },
    async write(path, content, mode = content instanceof Secret ? 0o600 : 0o644) {
      const text = content instanceof Secret ? revealed(content) : content;
      const command = writing(path, mode, sha256Of(content));
      succeeded(host, command, await on.feed(command, text));
    },
    async upload(from, to, mode = 0o644) {
      const command = writing(to, mode, await sha256OfFile(from));
      succeeded(host, command, await on.send(command, from));
    },
    async download(from, to) {
      const command = titled(script('linux/read-file.sh', { SOURCE: from }), `read ${from}`);
      await mkdir(dirname(to), { recursive: true });
      const temporary = `${to}.${randomBytes(6).toString('hex')}`;
      try {
        const result = await on.receive(command, temporary);
        succeeded(host, command, result);
        if (!result.stderr.includes(await sha256OfFile(temporary)))
          throw new CommandError(host, command.title, { ...result, status: 'changed while it was read' });
        await rename(temporary, to);
      } finally {
        await rm(temporary, { force: true });
      }
    },
  };
}

const titled = (command: Command<'sh'>, title: string): Command<'sh'> => ({ ...command, title });

const writing = (path: string, mode: number, hash: string): Command<'sh'> =>
  titled(
    onRootPath(script('linux/write-file.sh', { TARGET: path, MODE: mode.toString(8).padStart(4, '0'), SHA256: hash })),
    `write ${path}`,
  );
