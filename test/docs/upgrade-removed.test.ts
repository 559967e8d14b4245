import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { removedReference } from './upgrade-removed.ts';

// `npm run docs:upgrade` runs this test with -u, which writes the file.
test('docs/upgrade-removed.md follows the tables of removed settings (else: npm run docs:upgrade)', async () => {
  const page = '../../docs/upgrade-removed.md';
  const style = await resolveConfig(new URL(page, import.meta.url));
  await expect(await format(removedReference(), { ...style, parser: 'markdown' })).toMatchFileSnapshot(page);
});
