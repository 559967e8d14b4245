import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { reason, refusedFor } from '../../src/cluster/reasons.ts';
import { checks } from '../../src/commands/every.checks.ts';
import { Refused, refusalLines, refusalOf } from '../../src/errors.ts';
import { refusals } from '../../src/refusals/refusals.ts';
import { severalText } from '../../src/report/failure.ts';
import { filesIn } from '../tools/files-in.ts';
import { refusalsReference } from './refusals.ts';

const names: readonly string[] = refusals.map(({ name }) => name);

/** The first argument of every `new Refused(` in src. */
const made = filesIn('src', '.ts').flatMap((file) =>
  [...readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').matchAll(/new Refused\(\s*([^\s,]+),/g)].map(
    ([, name]) => [file, name!] as const,
  ),
);

// `npm run docs:refusals` runs this test with -u, which writes the file.
test('docs/refusals.md follows the refusals (else: npm run docs:refusals)', async () => {
  await expect(refusalsReference()).toMatchFileSnapshot('../../docs/refusals.md');
});

test('every refusal in src has a name with a page, or passes on the name of another one', () => {
  expect(made.length).toBeGreaterThan(200);
  const unnamed = made.filter(([, name]) => !names.some((one) => name === `'${one}'`) && !name.endsWith('.refusal'));
  expect(unnamed).toEqual([]);
});

test('every page of a refusal stands in docs/refusals.md and belongs to a refusal in src', () => {
  const page = readFileSync(new URL('../../docs/refusals.md', import.meta.url), 'utf8');
  expect(names.filter((name) => !page.includes(`\n### ${name}\n`))).toEqual([]);
  expect(names.filter((name) => !made.some(([, used]) => used === `'${name}'`))).toEqual([]);
});

test('a name has one meaning: no other refusal, no check has it', () => {
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(checks.filter(({ name }) => names.includes(name))).toEqual([]);
  const titles = refusals.map(({ title }) => title);
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

test('a refusal is printed with its name below what to do', () => {
  const error = new Refused('locked', 'cp1', 'locked: held by bob', 'wait');
  expect(refusalLines(error)).toEqual(['  why: kbuild explain locked']);
  expect(refusalLines(new Error('no'))).toEqual([]);
  expect(refusalOf(error)).toEqual({ refusal: 'locked' });
  expect(severalText([error, new Error('w1: gone')])).toBe(
    'cp1: refused: locked: held by bob\n  → wait\n  why: kbuild explain locked\nw1: gone',
  );
});

test('refusals of several names are not one group, although they say the same', () => {
  const text = severalText([new Refused('quorum', 'cp1', 'no'), new Refused('cluster-down', 'cp2', 'no')]);
  expect(text.match(/why: .*/g)).toEqual(['why: kbuild explain quorum', 'why: kbuild explain cluster-down']);
});

test('a list of reasons names what its reasons give, and no more: else it does not compile', () => {
  const quorum = new Refused('quorum', 'cp1', 'no');
  // @ts-expect-error It gives another refusal than it names.
  const wrong = reason(['downgrade'], () => [quorum]);
  const right = reason(['quorum', 'downgrade'], () => [quorum]);
  expect(refusedFor([wrong, right], undefined)).toEqual([quorum, quorum]);
});
