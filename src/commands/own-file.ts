import {
  closeSync,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { UsageError } from '../errors.ts';
import { systemText } from '../shell/text.ts';

/** True for a pipe or a device, e.g. /dev/stdout: it is written, and never replaced. @throws the system's error */
export function isSpecial(path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && !there.isFile() && !there.isDirectory();
}

/** What a file begins with; undefined: there is none. */
function beginningOf(path: string, length: number): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0)).toString();
  } finally {
    closeSync(file);
  }
}

/** Replaces a file, or makes it: whole or not at all, mode 0600. */
function replace(path: string, content: string): void {
  const temporary = `${path}.${String(process.pid)}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Writes a file, mode 0600. Replaces only an empty file and one that begins as the content does: a name that was
 * mistyped must not cost an inventory. @throws UsageError when another file is there, or it cannot be written
 */
export function writeOwnFile(path: string, content: string, begins: string): void {
  try {
    if (isSpecial(path)) {
      writeFileSync(path, content);
      return;
    }
    if (!existsSync(path)) {
      replace(path, content);
      return;
    }
    const beginning = beginningOf(path, Buffer.byteLength(begins));
    if (beginning !== '' && beginning !== begins)
      throw new UsageError(`${path} is there already, and kbuild did not write it`, {
        remedy: 'choose another name, or remove it first',
      });
    replace(realpathSync(path), content);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be written: ${systemText(error)}`, { cause: error });
  }
}
