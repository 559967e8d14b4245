import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readRecord } from '../../../src/report/record/read.ts';
import { FLUSH_MS, recorder } from '../../../src/report/record/record-files.ts';
import { recordHeadOf } from '../../fakes/record.ts';

/** A disk that takes so many more bytes. */
const diskWith = (room: number) => {
  const disk = { room };
  const write = (file: number, bytes: Uint8Array, at: number): number => {
    if (disk.room === 0) throw new Error('no space left on device');
    const written = writeSync(file, bytes, at, Math.min(bytes.length - at, disk.room));
    disk.room -= written;
    return written;
  };
  return { disk, write };
};

let folder: string;
let told: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-record-'));
  told = [];
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const path = (): string => join(folder, 'runs', 'run.ndjson');
const made = (at = path()) => recorder(at, (message) => told.push(message));

describe('the file of a record', () => {
  test('is for its owner alone, and so is its folder', () => {
    const file = made();
    file.write({ kind: 'locked' });
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'runs')).mode & 0o777).toBe(0o700);
    file.close();
  });

  test('has every line a moment after it was written, also in a process that is killed then', () => {
    vi.useFakeTimers();
    const file = made();
    file.write({ kind: 'locked', hosts: 1 });
    expect(readFileSync(path(), 'utf8')).toBe('');
    vi.advanceTimersByTime(FLUSH_MS);
    expect(readFileSync(path(), 'utf8')).toBe('{"kind":"locked","hosts":1}\n');
    file.close();
  });

  test('is written at once when much is waiting, on demand, and at its end', () => {
    vi.useFakeTimers();
    const file = made();
    file.write({ text: 'x'.repeat(70_000) });
    expect(statSync(path()).size).toBeGreaterThan(70_000);
    file.write({ n: 1 });
    file.flush();
    expect(readFileSync(path(), 'utf8')).toMatch(/\n\{"n":1\}\n$/);
    file.write({ n: 2 });
    file.close();
    file.write({ n: 3 });
    expect(readFileSync(path(), 'utf8')).toMatch(/\n\{"n":1\}\n\{"n":2\}\n$/);
    expect(file.isWritten()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is not made before its first line', () => {
    const file = made();
    file.close();
    expect(existsSync(join(folder, 'runs'))).toBe(false);
  });

  test('never takes the place of another file, and follows no link', () => {
    writeFileSync(join(folder, 'precious'), 'mine');
    symlinkSync(join(folder, 'precious'), join(folder, 'link'));
    for (const at of ['precious', 'link']) made(join(folder, at)).write({ kind: 'locked' });
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('mine');
    expect(told).toHaveLength(2);
  });

  test('that cannot be made is told once, and ends nothing', () => {
    writeFileSync(join(folder, 'runs'), 'a file where a folder should be');
    const file = made();
    file.write({ n: 1 });
    file.write({ n: 2 });
    file.close();
    expect(told).toEqual([expect.stringMatching(/^this run leaves no record: .*(?:ENOTDIR|EEXIST)/)]);
    expect(file.isWritten()).toBe(false);
  });

  test('that a full disk cuts off is told once, ends nothing, and stays readable up to its last whole line', () => {
    const { disk, write } = diskWith(Infinity);
    const file = recorder(path(), (message) => told.push(message), write);
    file.write(recordHeadOf());
    file.write({ kind: 'locked', time: recordHeadOf().time, hosts: 1 });
    file.flush();
    disk.room = 10;
    for (const hosts of [2, 3]) {
      file.write({ kind: 'locked', time: recordHeadOf().time, hosts });
      file.flush();
    }
    disk.room = Infinity;
    file.write({ kind: 'locked', time: recordHeadOf().time, hosts: 4 });
    file.close();
    expect(told).toEqual([`the record ${path()} ends here: no space left on device`]);
    expect(file.isWritten()).toBe(false);
    const { lines, leftOut, isWhole } = readRecord(readFileSync(path(), 'utf8'), 'it');
    expect({ lines: lines.length, leftOut, isWhole }).toEqual({ lines: 1, leftOut: 1, isWhole: false });
  });
});
