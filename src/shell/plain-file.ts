import { createHash } from 'node:crypto';
import { closeSync, constants, createReadStream, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** SHA-256 of a local file, in hexadecimal. @throws the file system's error */
export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Without waiting: the opening of a pipe would wait until another process writes to it, maybe for ever. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/** A pipe that the operator's shell made for this process, and that has a writer, e.g. by `<(command)`. */
const isGivenByShell = (path: string): boolean => /^\/(?:dev|proc\/self)\/(?:fd\/\d+|stdin)$/.test(path);

function refusePipe(stats: Stats): void {
  if (stats.isFIFO()) throw new Error('is a pipe, not a file');
}

/** Opens a file for reading. @throws Error for a pipe, which may never end; the system's error */
export async function openPlainFile(path: string): Promise<FileHandle> {
  if (isGivenByShell(path)) return open(path, 'r');
  const file = await open(path, FLAGS);
  try {
    refusePipe(await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The bytes of a file. @throws Error for a pipe, which may never end; the system's error */
export function readPlainFile(path: string): Buffer {
  if (isGivenByShell(path)) return readFileSync(path);
  const file = openSync(path, FLAGS);
  try {
    refusePipe(fstatSync(file));
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
