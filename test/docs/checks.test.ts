import { expect, test } from 'vitest';
import { checks } from '../../src/commands/every.checks.ts';
import { checksReference } from './checks.ts';
import { provoked } from './provoked.ts';

// `npm run docs:checks` runs this test with -u, which writes the file.
test('docs/checks.md follows the checks (else: npm run docs:checks)', async () => {
  await expect(checksReference(provoked)).toMatchFileSnapshot('../../docs/checks.md');
});

test('the table of provoked faults names only checks that exist', () => {
  const names = checks.map(({ name }): string => name);
  expect(Object.keys(provoked).filter((name) => !names.includes(name))).toEqual([]);
});
