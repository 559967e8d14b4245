import { expect, test } from 'vitest';
import {
  checkNames,
  checks,
  fleetChecks,
  hostChecks,
  surveyChecks,
  windowsChecks,
} from '../../src/commands/every.checks.ts';
import type { Check, CheckGroup } from '../../src/engine/check.ts';
import { filesIn } from '../tools/files-in.ts';
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

test('every group of checks in src is among those that run, and each name is that of one check', async () => {
  const modules = await Promise.all(
    filesIn('src', '.check.ts').map(
      (file) =>
        import(new URL(`../../src/${file}`, import.meta.url).href) as Promise<Readonly<Record<string, unknown>>>,
    ),
  );
  const groups = modules.map((module) => Object.keys(module).filter((name) => name.endsWith('Checks')));
  expect(groups.filter((names) => names.length !== 1)).toEqual([]);
  const found = modules.flatMap((module, i) =>
    Object.values<readonly Check[]>({ ...(module[groups[i]![0]!] as CheckGroup) }).flat(),
  );
  const alone = fleetChecks.slice(0, 1);
  expect([...alone, ...found].map(({ name }) => name).toSorted()).toEqual(checkNames.toSorted());
  expect(new Set(checkNames).size).toBe(checkNames.length);
  expect([...hostChecks, ...windowsChecks, ...fleetChecks, ...surveyChecks]).toHaveLength(checks.length);
});
