import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { filesFor, filesOf, GROUPS, groupInTurn, MUST_RUN } from '../lab/which.ts';
import { SHARES } from '../run/shares.ts';
import { contributingPage, firstSentence, labTestRows } from './lab-tests.ts';

const root = new URL('../../', import.meta.url);
const tests = [...filesOf('core'), ...filesOf('group'), ...filesOf('long')];

// `npm run docs:tests` runs this test with -u, which writes the file.
test('docs/contributing.md lists every test of the lab (else: npm run docs:tests)', async () => {
  await expect(await contributingPage()).toMatchFileSnapshot('../../docs/contributing.md');
});

test('every test of the lab says in its first lines what it covers', () => {
  expect(labTestRows().flatMap(([file, covers]) => ((covers ?? '').length > 20 ? [] : [file]))).toEqual([]);
  expect(firstSentence('/**\n * One thing, on 1.36\n * hosts. Another.\n */\nimport')).toBe(
    'One thing, on 1.36 hosts.',
  );
  expect(firstSentence('import x')).toBe('');
});

describe('which tests of the lab run', () => {
  test('the lab has tests of each kind', () => {
    expect(filesOf('core').length).toBeGreaterThanOrEqual(3);
    expect(filesOf('group').length).toBeGreaterThan(20);
    expect(filesOf('long').length).toBeGreaterThan(50);
  });

  test('each test beside the core and the long ones is in one group of CI', () => {
    expect(GROUPS.flat().toSorted()).toEqual([...filesOf('group')].toSorted());
  });

  test('each scenario of the core has a share of its time', () => {
    expect(
      Object.keys(SHARES)
        .map((name) => `core/${name}.test.ts`)
        .toSorted(),
    ).toEqual([...filesOf('core')].toSorted());
  });

  test('each folder of src and templates says which tests a change of it must run', () => {
    const folders = ['src', 'templates'].flatMap((parent) =>
      readdirSync(new URL(parent, root), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${parent}/${name}`),
    );
    expect(folders.length).toBeGreaterThan(20);
    expect(folders.filter((folder) => !(folder in MUST_RUN))).toEqual([]);
    const gone = Object.keys(MUST_RUN).filter(
      (folder) => /^(?:src|templates)\//.test(folder) && !existsSync(new URL(folder, root)),
    );
    expect(gone).toEqual([]);
  });

  test('each named test exists, and each test is named', () => {
    const named = new Set(Object.values(MUST_RUN).flat());
    expect([...named].filter((file) => !tests.includes(file))).toEqual([]);
    expect(tests.filter((file) => !named.has(file) && !file.startsWith('core/'))).toEqual([]);
  });

  test('commits take the groups in turn', () => {
    expect(groupInTurn('00000000ffff')).toBe(1);
    const commits = Array.from({ length: GROUPS.length }, (_, n) => n.toString(16).padStart(8, '0'));
    expect(commits.map(groupInTurn)).toEqual(GROUPS.map((_, n) => n + 1));
  });

  test('a change runs the core, the tests of its nearest folder, and tests that it changes', () => {
    const core = filesOf('core');
    expect(filesFor(['src/balancer/haproxy.step.ts'])).toEqual([...core, ...MUST_RUN['src/balancer']!]);
    expect(filesFor(['test/lab/long/cut.test.ts'])).toContain('long/cut.test.ts');
    expect(filesFor(['src/library.ts'])).toEqual([...core, 'scenarios/cluster.test.ts']);
    expect(filesFor(['docs/lab.md', 'README.md'])).toEqual([]);
  });
});
