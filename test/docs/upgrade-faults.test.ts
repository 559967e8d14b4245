/** The table of an upgrade's faults names tests that are there. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const rows = readFileSync(new URL('docs/upgrade-faults.md', root), 'utf8')
  .split('\n')
  .filter((line) => /^\|\s+\d/.test(line));

test('the table has each of the 25 faults once, and every test that it names exists', () => {
  expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
  const files = rows.flatMap((row) => [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, file]) => file!));
  expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});

test('a fault without a test is called open', () => {
  expect(rows.filter((row) => !row.includes('`test/') && row.split('|')[3]?.trim() !== 'open')).toEqual([]);
});
