import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { withTables } from './commands.ts';

// `npm run docs:cli` runs this test with -u, which writes the files.
test.each(['../../docs/cli.md', '../../README.md'])(
  'the tables of commands in %s follow the list of commands (else: npm run docs:cli)',
  async (page) => {
    const path = new URL(page, import.meta.url);
    const text = withTables(readFileSync(path, 'utf8'));
    const style = await resolveConfig(path);
    await expect(await format(text, { ...style, parser: 'markdown' })).toMatchFileSnapshot(page);
  },
);
