/** The table of an upgrade's faults is whole. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const rows = readFileSync(new URL('docs/upgrade-faults.md', root), 'utf8')
  .split('\n')
  .filter((line) => /^\|\s+\d/.test(line));

test('the table has each of the 25 faults once', () => {
  expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
});

test('a fault without a test is called open', () => {
  expect(rows.filter((row) => !row.includes('`test/') && row.split('|')[3]?.trim() !== 'open')).toEqual([]);
});
