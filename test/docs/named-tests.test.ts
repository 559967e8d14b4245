/** Pages say which test proves a claim. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const pages = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'));

test.each(pages)('%s: every test that it names is there', (page) => {
  const text = readFileSync(new URL(`docs/${page}`, root), 'utf8');
  const named = [...text.matchAll(/`(test\/[^\s`*]+\.ts)`/g)].map(([, file]) => file!);
  expect(named.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
