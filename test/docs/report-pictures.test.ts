/** The pictures of reports that pages show. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from '../tools/files-in.ts';
import { pageSums, SUMS_FILE } from '../tools/report-shots.ts';

test('the pictures show the reports of today (else: npm run docs:report)', () => {
  const sums = readFileSync(SUMS_FILE, 'utf8');
  expect(pageSums()).toBe(sums);
  const drawn = [...sums.matchAll(/ {2}(\w+)\.html$/gm)].map(([, name]) => `${name!}.png`);
  expect(filesIn('docs/report', '.png')).toEqual(drawn.toSorted());
});
