import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../files.ts';
import { jsonText } from '../text.ts';
import type { RecordLine, RunRecord } from './line.ts';

/**
 * The record that this process has just written: its lines need no check, which would cost every run. @throws
 * SyntaxError if it is no JSON
 */
export function ownRecord(content: string): RunRecord {
  const [head, ...lines] = content
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordLine | RunRecord['head']) as [RunRecord['head'], ...RecordLine[]];
  return { head, lines, isWhole: true, leftOut: 0 };
}

/** A kbuild that is killed loses the lines of its last so many ms. */
export const FLUSH_MS = 200;
/** So many characters are written at once. */
const FLUSH_LENGTH = 64 * 1024;

/** The file of a run's record. */
export interface Recorder {
  readonly path: string;
  /** Adds a line. It is in the file within FLUSH_MS. */
  readonly write: (line: object) => void;
  /** Writes the lines that are still in memory. */
  readonly flush: () => void;
  /** The same; from now on nothing is recorded. */
  readonly close: () => void;
  /** False before the first line, and when not all of it could be written. */
  readonly isWritten: () => boolean;
}

/** Writes some of these bytes from `at` on; returns how many. @throws the file system's error */
type Write = (file: number, bytes: Uint8Array, at: number) => number;

function writeAll(file: number, text: string, write: Write): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += write(file, bytes, at);
}

/**
 * A record at this path, 0600 from its first byte; the file and its folders (0700) are made for its first line. One
 * that cannot be written (a full disk, a folder that is read-only) is told to `onFailure` once, and ends nothing.
 */
export function recorder(path: string, onFailure: (message: string) => void, write: Write = writeSync): Recorder {
  let file: number | undefined;
  let state: 'not begun' | 'open' | 'failed' | 'closed' = 'not begun';
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const fail = (what: string, error: unknown): void => {
    state = 'failed';
    waiting = '';
    onFailure(`${what}: ${(error as Error).message}`);
  };
  const open = (): void => {
    try {
      makeFolder(dirname(path));
      file = openSync(path, 'wx', 0o600);
      state = 'open';
    } catch (error) {
      fail('this run leaves no record', error);
    }
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (state !== 'open' || waiting === '') return;
    try {
      const text = waiting;
      waiting = '';
      writeAll(file!, text, write);
    } catch (error) {
      fail(`the record ${path} ends here`, error);
    }
  };
  return {
    path,
    flush,
    write(line) {
      if (state === 'not begun') open();
      if (state !== 'open') return;
      waiting += `${jsonText(line)}\n`;
      if (waiting.length >= FLUSH_LENGTH) flush();
      // The record alone keeps no process alive.
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    close() {
      flush();
      if (file !== undefined) closeSync(file);
      file = undefined;
      if (state !== 'failed') state = 'closed';
    },
    isWritten: () => state === 'open' || state === 'closed',
  };
}
