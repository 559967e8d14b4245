import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { load } from './load.ts';
import { anyCharacter } from '../tools/any-character.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-names-'));
const canary = join(folder, 'canary');
afterAll(() => rmSync(folder, { recursive: true }));

const NASTY = [
  `;touch ${canary}`,
  `$(touch ${canary})`,
  `\`touch ${canary}\``,
  `-oProxyCommand=touch ${canary}`,
  'a\nb',
  'a\0b',
  '../../etc',
  'x'.repeat(300),
  'host😀',
  'Host',
  'a_b',
  'a.',
  '-a',
  '',
  'a b',
  "a'b",
];

const withName = (name: string) =>
  stringify({
    name: 'c',
    kubernetes: { version: '1.36.3' },
    hosts: [{ name, address: '10.0.0.1', role: 'control-plane' }],
  });

const problems = async (text: string): Promise<readonly string[]> => {
  try {
    await load(text);
    return [];
  } catch (error) {
    return (error as { problems: { path: string }[] }).problems.map(({ path }) => path);
  }
};

test.each(NASTY)('a host cannot be called %j', async (name) => {
  expect(await problems(withName(name))).toContain('hosts[0].name');
  expect(existsSync(canary)).toBe(false);
});

test('an ordinary name is accepted', async () => expect(await problems(withName('w-1.example'))).toEqual([]));

test('an accepted name has no special meaning to a shell, in a path, or in DNS', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 80 }), async (name) => {
      // A control character makes the whole document unreadable: any problem will do.
      if ((await problems(withName(name))).length === 0) expect(name).toMatch(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/);
    }),
    { numRuns: 200, examples: [['\u007f']] },
  );
});
