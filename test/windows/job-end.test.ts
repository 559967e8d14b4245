import { beforeAll, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { nodesOf, powershellParser, scriptText } from './grammar.ts';

let parse: (text: string) => Node;

beforeAll(async () => {
  parse = await powershellParser();
});

const cleanUp = (): Node => nodesOf(parse(scriptText('job-run.ps1')), 'finally_clause')[0]!;

test('a folder that cannot be removed does not cost the status of the job: each removal fails by itself', () => {
  const removals = nodesOf(cleanUp(), 'command').filter(({ text }) => text.startsWith('Remove-Item'));
  const guarded = nodesOf(cleanUp(), 'try_statement').flatMap((one) => nodesOf(one, 'command'));
  expect(removals).not.toEqual([]);
  for (const one of removals) expect(guarded.some(({ startIndex }) => startIndex === one.startIndex)).toBe(true);
  // A throw in a catch would end the clean-up all the same.
  for (const one of nodesOf(cleanUp(), 'catch_clause')) expect(one.text).not.toMatch(/throw/);
});

test('the payload, which has secrets, goes before the folder that some process may have open', () => {
  const text = cleanUp().text;
  expect(text).toContain("foreach ($secret in @('payload', 'work'))");
  expect(text.indexOf('$secret')).toBeLessThan(text.indexOf('\\status'));
});
