import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  recordPath,
  RECORDS_KEPT,
  recordsIn,
  removeOldRecords,
  tracePath,
} from '../../../src/report/record/record-files.ts';
import { FAILED_RUN, killedRunText, recordHeadOf, recordText } from '../../fakes/record.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-records-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const WHOLE = recordText(FAILED_RUN);
const NOW = Date.parse('2026-12-24T12:00:00.000Z');
const DAY = 24 * 60 * 60_000;

/** The identity of the run of this number; later ones are larger. */
const runOf = (number: number): string => `20261121t1650${String(number).padStart(2, '0')}z-0a1b2c3d`;

/** Puts a record, and its trace, where the run of this number has them. Last written so many ms ago. */
function put(number: number, command = 'up', content = WHOLE, agoMs = 30 * DAY): string {
  const path = recordPath(folder, runOf(number), command);
  writeFileSync(path, content);
  writeFileSync(tracePath(path), '{}');
  utimesSync(path, (NOW - agoMs) / 1000, (NOW - agoMs) / 1000);
  return path;
}

const remove = (isAlive: boolean | 'unknown' = false, own = ''): void =>
  removeOldRecords(folder, own, () => isAlive, NOW);

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('old records', () => {
  test('are removed with their traces; the newest 20 of each command stay', () => {
    for (const number of range(1, RECORDS_KEPT + 3)) put(number);
    for (const number of range(1, RECORDS_KEPT)) put(number, 'etcd snapshot save');
    remove();
    expect(
      recordsIn(folder)
        .filter(({ command }) => command === 'up')
        .map(({ run }) => run),
    ).toEqual(range(4, RECORDS_KEPT + 3).map(runOf));
    expect(recordsIn(folder).filter(({ command }) => command === 'etcd-snapshot-save')).toHaveLength(RECORDS_KEPT);
    expect(readdirSync(folder)).toHaveLength(4 * RECORDS_KEPT);
  });

  test.each([
    ['that still runs stays', true, 30 * DAY, true],
    ['that was killed goes', false, 1000, false],
    ['of another machine stays while it may still run', 'unknown', 6 * DAY, true],
    ['of another machine goes when it has been silent for a week', 'unknown', 8 * DAY, false],
  ] as const)('of a run %s', (_, isAlive, agoMs, stays) => {
    const path = put(0, 'up', killedRunText(), agoMs);
    for (const number of range(1, RECORDS_KEPT)) put(number);
    remove(isAlive);
    expect(existsSync(path)).toBe(stays);
    expect(existsSync(tracePath(path))).toBe(stays);
  });

  test('are asked about by the process that their first line names', () => {
    put(0, 'up', killedRunText());
    for (const number of range(1, RECORDS_KEPT)) put(number);
    const asked: unknown[] = [];
    removeOldRecords(folder, '', (process) => asked.push(process) > 0, NOW);
    expect(asked).toEqual([recordHeadOf().process]);
  });

  test('the own record stays, also where the clock went back', () => {
    const own = put(0);
    for (const number of range(1, RECORDS_KEPT)) put(number);
    remove(false, own);
    expect(existsSync(own)).toBe(true);
  });

  test('are removed by two runs at once', () => {
    for (const number of range(1, RECORDS_KEPT + 2)) put(number);
    const gone = recordPath(folder, runOf(1), 'up');
    removeOldRecords(folder, '', () => false, NOW);
    remove();
    expect(existsSync(gone)).toBe(false);
    expect(recordsIn(folder)).toHaveLength(RECORDS_KEPT);
  });

  test('of another format stay for a week: their runs may end in another way', () => {
    const other = JSON.stringify({ ...recordHeadOf(), format: 2 });
    const [young, old] = [put(0, 'up', `${other}\n`, 6 * DAY), put(1, 'up', `${other}\n`, 8 * DAY)];
    for (const number of range(2, RECORDS_KEPT + 1)) put(number);
    remove();
    expect([existsSync(young), existsSync(old)]).toEqual([true, false]);
  });
});

test('what kbuild did not write stays, whatever its name is', () => {
  const path = recordPath(folder, runOf(0), 'up');
  writeFileSync(path, 'notes of mine\n');
  mkdirSync(recordPath(folder, runOf(1), 'up'));
  const linked = join(folder, 'elsewhere');
  writeFileSync(linked, WHOLE);
  symlinkSync(linked, recordPath(folder, runOf(2), 'up'));
  const others = ['up.ndjson', `${runOf(3)}-up.ndjson.bak`, `${runOf(3)}.ndjson`, 'notes.txt', `${runOf(3)}-Up.ndjson`];
  for (const name of others) writeFileSync(join(folder, name), WHOLE);
  const before = readdirSync(folder);
  for (const number of range(10, 9 + RECORDS_KEPT)) put(number);
  remove();
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(before));
  expect(readFileSync(linked, 'utf8')).toBe(WHOLE);
});

test('a folder that is not there has no records', () => {
  expect(recordsIn(join(folder, 'no'))).toEqual([]);
  removeOldRecords(join(folder, 'no'), '', () => false, NOW);
});
