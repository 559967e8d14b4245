/** Pages say which test proves a claim. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from '../tools/files-in.ts';

const root = new URL('../../', import.meta.url);
const pages = filesIn('docs', '.md');

test.each(pages)('%s: every test that it names is there', (page) => {
  const text = readFileSync(new URL(`docs/${page}`, root), 'utf8');
  const named = [...text.matchAll(/`(test\/[^\s`*]+\.ts)`/g)].map(([, file]) => file!);
  expect(named.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
