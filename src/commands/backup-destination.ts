import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { chmod, link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../errors.ts';
import { makeFolder } from '../report/files.ts';
import { type Context, stamp } from '../session/context.ts';
import { keepNewest } from './snapshots.ts';

/** Where a backup goes: to a new file, to a new file of a folder that keeps the newest, or to a command's input. */
export type Destination =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'folder'; readonly folder: string; readonly keep: number | undefined }
  | { readonly kind: 'command'; readonly command: string };

interface DestinationFlags {
  readonly to?: string | undefined;
  readonly keep?: number | undefined;
}

const COMMAND = 'command:';

/** Reads the operand and the flags. @throws UsageError when they name no place, two places, or a file that is there */
export async function destinationOf(
  { cwd }: Context,
  file: string | undefined,
  { to, keep }: DestinationFlags,
): Promise<Destination> {
  if ((file === undefined) === (to === undefined))
    throw new UsageError('name one place for the backup: a file, --to FOLDER, or --to command:COMMAND');
  const isFolder = to !== undefined && !to.startsWith(COMMAND);
  if (keep !== undefined && !isFolder)
    throw new UsageError('--keep needs --to FOLDER: only there kbuild deletes what it wrote');
  if (file !== undefined) {
    const path = resolve(cwd, file);
    if (existsSync(path)) throw isThere(path);
    return { kind: 'file', path };
  }
  if (!isFolder) return { kind: 'command', command: to!.slice(COMMAND.length) };
  const folder = resolve(cwd, to);
  if (existsSync(folder) && !(await stat(folder)).isDirectory()) throw new UsageError(`${folder} is no folder`);
  return { kind: 'folder', folder, keep };
}

type Bytes = AsyncIterable<Uint8Array>;

const isThere = (path: string): UsageError => new UsageError(`${path} is there already; nothing was written`);

/** Errors of link(2) on file systems without hard links, e.g. FAT and some network shares. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Gives the file its name. A link fails when another file has the name, while a rename would replace that file.
 * @throws UsageError when another file has the name
 */
async function take(beside: string, path: string): Promise<void> {
  try {
    await link(beside, path);
    await rm(beside);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw isThere(path);
    if (!NO_LINKS.has(code)) throw error;
    if (existsSync(path)) throw isThere(path);
    await rename(beside, path);
  }
}

/**
 * Writes beside, and gives the file its name when all of it is on the disk. @throws UsageError when the file is there
 * by then
 */
async function toFile(bytes: Bytes, path: string, runId: string): Promise<void> {
  makeFolder(dirname(path));
  const beside = `${path}.${runId}.part`;
  try {
    const target = createWriteStream(beside, { mode: 0o600, flags: 'wx' });
    // A file that is still being opened when the bytes fail would come after it was removed.
    await once(target, 'open');
    await pipeline(Readable.from(bytes), target);
    await chmod(beside, 0o600);
    const file = await open(beside, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await take(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

const ENDING = '.backup.age';

/**
 * Deletes all but the newest backups of this cluster in a folder; only files that have the name of one, and never the
 * one just written.
 */
async function deleteOld(folder: string, cluster: string, keep: number, own: string): Promise<readonly string[]> {
  const isBackup = new RegExp(
    `^${cluster.replaceAll('.', String.raw`\.`)}-\\d{8}T\\d{6}-\\d{3}${ENDING.replaceAll('.', String.raw`\.`)}$`,
  );
  const names = (await readdir(folder)).filter((name) => isBackup.test(name));
  return keepNewest(folder, names, { keep, written: new Set([basename(own)]) });
}

/** Lines of a failed command's stderr that its error shows. */
const SHOWN_CHARACTERS = 2_000;

/** @throws UsageError when the command fails, or ends before it has read all of it */
async function toCommand(bytes: Bytes, command: string, env: Context['env'], signal: AbortSignal): Promise<void> {
  // A process group of its own: Ctrl-C must not end it before kbuild knows.
  const child = spawn('/bin/sh', ['-c', command], { env, stdio: ['pipe', 'ignore', 'pipe'], detached: true });
  let printed = '';
  child.stderr.on('data', (text: Buffer) => (printed = (printed + text.toString()).slice(-SHOWN_CHARACTERS)));
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    } catch {
      // It has ended.
    }
  };
  const ended = new Promise<number | string>((done, fail) => {
    child.on('error', fail);
    child.on('close', (status, by) => done(status ?? by ?? 'unknown'));
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    const [written, status] = await Promise.allSettled([
      pipeline(Readable.from(bytes), child.stdin, { signal }),
      ended,
    ]);
    signal.throwIfAborted();
    if (status.status === 'rejected')
      throw new UsageError(`the command of --to cannot be run: ${String(status.reason)}`);
    if (status.value !== 0 || written.status === 'rejected')
      throw new UsageError(
        `the command of --to failed: status ${String(status.value)}` +
          (status.value === 0 ? ', before it had read the whole backup' : '') +
          (printed.trim() === '' ? '' : `\n${printed.trim()}`),
        { remedy: 'what it wrote is no backup: delete it' },
      );
  } catch (error) {
    end();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** What was written: the file, and older backups that were deleted. */
export interface Written {
  readonly file: string | undefined;
  readonly deleted: readonly string[];
}

/** Brings an encrypted backup to its destination, whole or not at all. @throws UsageError, and the system's errors */
export async function deliver(
  bytes: Bytes,
  to: Destination,
  about: {
    readonly cluster: string;
    readonly runId: string;
    readonly nowMs: number;
    readonly env: Context['env'];
    readonly signal: AbortSignal;
  },
): Promise<Written> {
  if (to.kind === 'command') {
    await toCommand(bytes, to.command, about.env, about.signal);
    return { file: undefined, deleted: [] };
  }
  const path = to.kind === 'file' ? to.path : join(to.folder, `${about.cluster}-${stamp(about.nowMs)}${ENDING}`);
  await toFile(bytes, path, about.runId);
  const deleted =
    to.kind === 'folder' && to.keep !== undefined ? await deleteOld(to.folder, about.cluster, to.keep, path) : [];
  return { file: path, deleted };
}
