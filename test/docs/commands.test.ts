import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { withTables } from './commands.ts';

// `npm run docs:cli` runs this test with -u, which writes the file.
test('the tables of commands in docs/cli.md follow the list of commands (else: npm run docs:cli)', async () => {
  const page = '../../docs/cli.md';
  const path = new URL(page, import.meta.url);
  const text = withTables(readFileSync(path, 'utf8'));
  const style = await resolveConfig(path);
  await expect(await format(text, { ...style, parser: 'markdown' })).toMatchFileSnapshot(page);
});
