import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../files.ts';
import { jsonText } from '../text.ts';
import { RECORD_FORMAT, type RecordLine, type RunRecord } from './line.ts';

/** How many records of each command are kept. */
export const RECORDS_KEPT = 20;
/** A record without an end that another machine may still write is kept for so long after its last line, in ms. */
const MAYBE_ALIVE_MS = 7 * 24 * 60 * 60_000;
const ENDING = '.ndjson';

/** The name of a run's files without their endings, e.g. `20261121t165045z-0a1b2c3d-etcd-snapshot-save`. */
export const runName = (run: string, command: string): string => `${run}-${command.replaceAll(' ', '-')}`;

/** The record of a run, and its trace beside it. */
export interface RecordFile {
  /** Identity of the run. */
  readonly run: string;
  /** With `-` for spaces. */
  readonly command: string;
  readonly path: string;
  readonly trace: string;
}

/** The trace beside a record. */
export const tracePath = (record: string): string => `${record.slice(0, -ENDING.length)}.trace.json`;

/** The path of a run's record in the folder of records. */
export const recordPath = (folder: string, run: string, command: string): string =>
  join(folder, `${runName(run, command)}${ENDING}`);

/**
 * The records in a folder, the oldest first; none if the folder cannot be read. Only names that kbuild gives, and no
 * links.
 */
export function recordsIn(folder: string): readonly RecordFile[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : []));
  } catch {
    return [];
  }
  return names.toSorted().flatMap((name): readonly RecordFile[] => {
    const [, run, command] = /^(\d{8}t\d{6}z-[0-9a-f]{8})-([a-z]+(?:-[a-z]+)*)\.ndjson$/.exec(name) ?? [];
    if (run === undefined || command === undefined) return [];
    const path = join(folder, name);
    return [{ run, command, path, trace: tracePath(path) }];
  });
}

/** The beginning and the end of a file, and when it was written last. */
function edges(path: string): { readonly first: string; readonly last: string; readonly writtenMs: number } {
  const LENGTH = 16 * 1024;
  const file = openSync(path, 'r');
  try {
    const { size, mtimeMs } = fstatSync(file);
    const read = (from: number): string => {
      const bytes = Buffer.alloc(Math.min(LENGTH, size));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from)).toString();
    };
    return { first: read(0), last: read(Math.max(0, size - LENGTH)), writtenMs: mtimeMs };
  } finally {
    closeSync(file);
  }
}

/** What tells whether the process of a record still runs. */
type IsAlive = (process: { readonly pid: number; readonly realm: string }) => boolean | 'unknown';

/** True for a record of an ended run. A file of this name that is no record is not kbuild's. */
function isOver({ path }: RecordFile, isAlive: IsAlive, nowMs: number): boolean {
  const { first, last, writtenMs } = edges(path);
  if (!first.startsWith('{"kind":"run","format":')) return false;
  // Another format may end its runs in another way.
  if (!first.startsWith(`{"kind":"run","format":${String(RECORD_FORMAT)},`)) return nowMs - writtenMs > MAYBE_ALIVE_MS;
  const lastLine = last.trimEnd().split('\n').at(-1)!;
  if (last.endsWith('\n') && /"kind":"end"/.test(lastLine)) return true;
  const [, pid, realm] = /"process":\{"pid":(\d+),"realm":"(\w*)"\}/.exec(first) ?? [];
  const alive = pid === undefined ? 'unknown' : isAlive({ pid: Number(pid), realm: realm! });
  return alive === 'unknown' ? nowMs - writtenMs > MAYBE_ALIVE_MS : !alive;
}

function removeFile(path: string): void {
  try {
    if (lstatSync(path).isFile()) unlinkSync(path);
  } catch {
    // Another run has removed it, or it must stay: the next run tries again.
  }
}

/**
 * Removes the records that are older than the newest of their command, each with its trace: but none of a run that
 * still runs, not `own`, and no file that kbuild did not write. Several runs may do so at once.
 */
export function removeOldRecords(folder: string, own: string, isAlive: IsAlive, nowMs: number): void {
  const byCommand = new Map<string, RecordFile[]>();
  for (const one of recordsIn(folder)) byCommand.set(one.command, [...(byCommand.get(one.command) ?? []), one]);
  for (const old of [...byCommand.values()].flatMap((all) => all.slice(0, -RECORDS_KEPT))) {
    try {
      if (old.path === own || !isOver(old, isAlive, nowMs)) continue;
    } catch {
      continue;
    }
    removeFile(old.trace);
    removeFile(`${old.trace}.tmp`);
    removeFile(old.path);
  }
}

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
