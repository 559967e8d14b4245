import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Note, RecordHead } from './line.ts';
import { readRecord } from './read.ts';

/** A run in short. */
export interface RunSummary {
  readonly head: RecordHead;
  /** Undefined: the run was killed, or still runs. */
  readonly end: Extract<Note, { readonly kind: 'end' }> | undefined;
}

const CHUNK = 64 * 1024;

/** A first line of thousands of hosts is no longer. */
const LONGEST = 8 * 1024 * 1024;

/** The first line of a file and its last 64 KiB. */
function edges(path: string): readonly [first: string, last: string] {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const read = (from: number): Buffer => {
      const bytes = Buffer.alloc(CHUNK);
      return bytes.subarray(0, readSync(file, bytes, 0, CHUNK, from));
    };
    const chunks: Buffer[] = [];
    for (let at = 0; at < Math.min(size, LONGEST) && chunks.at(-1)?.includes(0x0a) !== true; at += CHUNK)
      chunks.push(read(at));
    const [first = ''] = Buffer.concat(chunks).toString().split('\n', 1);
    return [first, read(Math.max(0, size - CHUNK)).toString()];
  } finally {
    closeSync(file);
  }
}

/**
 * How a run began and ended. Reads only the edges of its record.
 * @throws UsageError for a file of another format, and for one that is no record; the file system's error
 */
export function summaryOf(path: string, name: string): RunSummary {
  const [first, last] = edges(path);
  const lastLine = last.endsWith('\n') ? last.trimEnd().split('\n').at(-1)! : '';
  const { head, lines } = readRecord(`${first}\n${lastLine}\n`, name);
  const [line] = lines;
  return { head, end: line?.kind === 'end' ? line : undefined };
}
