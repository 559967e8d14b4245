import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { readRecord } from '../../../src/report/record/read.ts';
import { FAILED_RUN, RECORD_START, killedRunText, recordHeadOf, recordText } from '../../fakes/record.ts';

const text = recordText(FAILED_RUN);

describe('a record of a run', () => {
  test('is read with its first line and all lines after it, as they were written', () => {
    const { head, lines, isWhole, leftOut } = readRecord(text, 'it');
    expect(head).toEqual(recordHeadOf());
    expect(lines).toEqual(
      FAILED_RUN.map(([ms, line]) => ({ time: new Date(RECORD_START + ms).toISOString(), ...line })),
    );
    expect({ isWhole, leftOut }).toEqual({ isWhole: true, leftOut: 0 });
  });

  test('of a killed run is read up to its last whole line', () => {
    const { lines, isWhole, leftOut } = readRecord(killedRunText(), 'it');
    expect(lines.at(-1)).toMatchObject({ kind: 'changing', host: 'w1' });
    expect({ isWhole, leftOut }).toEqual({ isWhole: false, leftOut: 1 });
  });

  test('can be cut at any place behind its first line', () => {
    const firstEnd = text.indexOf('\n');
    const whole = readRecord(text, 'it').lines;
    for (let end = firstEnd; end < text.length; end += 97)
      expect(whole.slice(0, readRecord(text.slice(0, end), 'it').lines.length)).toEqual(
        readRecord(text.slice(0, end), 'it').lines,
      );
  });

  test('may hold kinds and fields that this kbuild does not know: it leaves them out', () => {
    const time = '2026-11-21T16:50:46.000Z';
    const newer = [
      { ...recordHeadOf(), mood: 'good' },
      { kind: 'eclipse', time, of: 'the sun' },
      { kind: 'locked', time, hosts: 3, colour: 'red' },
      { kind: 'locked', time, hosts: 'three' },
      'no object',
    ];
    const { head, lines, leftOut } = readRecord(newer.map((one) => `${JSON.stringify(one)}\n`).join(''), 'it');
    expect(head).toEqual(recordHeadOf());
    expect(lines).toEqual([{ kind: 'locked', time, hosts: 3 }]);
    expect(leftOut).toBe(3);
  });

  test('of another format is refused with the format', () => {
    const other = JSON.stringify({ ...recordHeadOf(), format: 2 });
    expect(() => readRecord(`${other}\n`, 'old.ndjson')).toThrow(UsageError);
    expect(() => readRecord(`${other}\n`, 'old.ndjson')).toThrow(
      'old.ndjson: a record of format 2 (this kbuild reads format 1)',
    );
  });

  test.each([
    ['an empty file', ''],
    ['a log', '{"time":"2026-11-21T16:50:46.000Z","kind":"locked","hosts":3}\n'],
    ['a first line that is cut', text.slice(0, 40)],
    ['no JSON', 'PK\u0003\u0004'],
  ])('is not %s', (_, content) => expect(() => readRecord(content, 'it')).toThrow('it: not the record of a run'));
});

test('the fixture of a small run is that of the builder', () =>
  expect(readFileSync(new URL('../../fixtures/records/small.ndjson', import.meta.url), 'utf8')).toBe(text));
